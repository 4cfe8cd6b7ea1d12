"""Tables of sun14: what is printed is unchanged, and stands beside what is here."""

import math
import re
import tomllib

import pandas as pd
import pytest
import synthetic

from fsgreen import confounds, design, paths, reduce
from fsgreen.analysis import standard
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.ledger import on_testbed, parts_of
from fsgreen.analysis.comparisons import pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.tables import NOT_RUN
from fsgreen.claims import missing
from fsgreen.design import Comparison, metrics
from fsgreen.papers.sun14.claims import CHECKS, OfSimulatedDrive
from fsgreen.papers.sun14.model import SLOWER, model
from fsgreen.papers.sun14.numbers import without_verdict
from fsgreen.papers.sun14.published import RECOMPUTED
from fsgreen.papers.sun14.reference import FILE_SYSTEMS, SCHEDULERS, WORKLOADS, Printed, pair
from fsgreen.papers.sun14.tables import (
    changes,
    drives,
    file_server,
    modelled,
    pairs,
    with_net,
    workloads,
    write_tables,
)

PRINTED = Printed.load()
FASTER = {"ext2": 1.0, "ext3": 0.9, "nilfs2": 0.6, "xfs": 1.1}
UNDER_CFQ = [pair("fileserver", system, "cfq") for system in FASTER]
VARIABLES = {
    "nfiles": 1000,
    "nthreads": 50,
    "filesize": {"mean": 131072.0},
    "iosize": 2**20,
    "appendsize": 16384,
}


def trials(of=UNDER_CFQ, **frame):
    table = synthetic.frame_of(
        of, lambda cell: FASTER[cell["file_system"]], lambda cell: 2.0, "modelled", **frame
    )
    return table.assign(energy_above_idle_j=table["energy_j"] - 1.5)


def compared(table):
    by = [Comparison("file_system", "ext2"), Comparison("scheduler", "cfq")]
    treatments = ("file_system", "scheduler")
    of = pairs_of(table, by, treatments)
    chosen = [metrics.get(name) for name in design.load_study("sun14").metrics]
    return effects_table(table, of, synthetic.BOUNDS, treatments, chosen)


@pytest.mark.parametrize("disk", ["", *SLOWER])
def test_table_1_has_the_drives_as_printed_and_a_model_only_where_there_is_one(disk):
    table = drives(PRINTED, disk).set_index("property")
    assert dict(table["SSD-I"]) == {
        "product": "Intel X25-M 80 GB G2",
        "GB": "80",
        "flash": "MLC",
        "controller": "Intel PC29AS21AA0Q",
        "DRAM (MB)": "16",
        "reads (MB/s)": "201.3",
        "writes (MB/s)": "73.8",
        "W at work": "2.6",
        "W at rest": "0.15",
        "erased before a run": "yes",
    }
    assert list(table.loc["W at work", ["SSD-S", "SSD-K"]]) == ["4.1", "5.9"]
    assert [*table.columns[3:]] == (["simulated SSD-I", "known from"] if disk else [])


@pytest.mark.parametrize(("disk", "slower"), SLOWER.items())
def test_the_model_in_table_1_is_that_of_the_engine(disk, slower):
    """Each number is one of the file from which the disk is made, or follows from some of it."""
    file = paths.root() / "engine" / "simdisk" / "disks" / f"{disk}.toml"
    made = tomllib.loads(file.read_text())
    flash, power, interface = (made[part] for part in ("flash", "power", "interface"))
    dies = flash["channels"] * flash["dies_per_channel"]
    page_b = flash["page_kib"] * 2**10
    of_page_us = flash["program_us"] + page_b / flash["channel_mb_s"]
    at_work_w = power["idle_w"] + dies * power["program_w"]
    known = {column: has.value for column, has in model(disk).items()}
    assert float(known["capacity_gb"]) == pytest.approx(flash["capacity_gib"] * 1.073741824, 1e-3)
    assert known["flash_type"] == f"MLC, {dies} dies at {flash['channels']} channels"
    assert known["controller"] == f"{interface['command_ms']:g} ms a command"
    assert known["dram_mb"].startswith(f"{made['cache']['write_kib'] / 1024:g},")
    assert known["read_mb_s"] == f"at most {interface['bandwidth_mb_s']:g}"
    assert float(known["write_mb_s"]) == pytest.approx(dies * page_b / of_page_us, 0.02)
    assert float(known["work_power_w"]) == pytest.approx(at_work_w)
    assert float(known["idle_power_w"]) == power["idle_w"]

    drive = PRINTED.table1.loc["SSD-I"]
    assert float(known["write_mb_s"]) * slower == pytest.approx(drive["write_mb_s"])
    for column in ("capacity_gb", "work_power_w", "idle_power_w"):
        assert float(known[column]) == drive[column], column
    assert {*model(disk)} <= {*PRINTED.table1.columns}


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (["x25-m-g2-slowed"], "x25-m-g2-slowed"),
        (["x25-m-g2", "x25-m-g2-slowed"], ""),
        (["atlas15k-18wls"], ""),
        ([None], ""),
    ],
)
def test_a_disk_that_is_no_model_of_ssd_i_is_not_taken_for_one(named, expected):
    cells = pd.DataFrame({"disk": named}, dtype=object)
    assert modelled({"testbed": {"model": "a disk of somebody"}}, cells) == expected
    assert modelled({"testbed": {}}, cells) == ""


def test_table_2_has_the_sizes_of_the_campaign_beside_those_printed():
    here = {"fileserver": {**VARIABLES, "measure_s": 9.0}}
    table = workloads(PRINTED, here).set_index("workload")
    assert [*table.index] == [*WORKLOADS]
    assert dict(table.loc["fileserver"]) == {
        "files": "10,000",
        "files, here": "1,000",
        "mean size": "128 KB",
        "mean size, here": "128 KiB",
        "threads": "50",
        "threads, here": "50",
        "requests": "16 KB mean; 1 MB fixed",
        "requests, here": "1 MiB; appends up to 16 KiB",
        "run (s)": "600",
        "run (s), here": "9",
        "reads : writes": "1:2",
    }
    assert dict(table["threads"]) == {"varmail": "16", "fileserver": "50", "webserver": "100"}
    assert list(table.loc["webserver", ["requests", "files, here"]]) == ["1 MB fixed", NOT_RUN]


def test_table_3_has_print_and_trials_and_what_both_have_over_ext2():
    table = trials()
    found = file_server(PRINTED, cells_table(table, synthetic.BOUNDS), compared(table))
    assert [*found.columns] == [
        *("number", "file system", "printed", "here", "over ext2, printed", "over ext2, here"),
    ]
    rows = found.set_index(["number", "file system"])
    assert dict(rows["printed"]["ops/s"]) == {
        "ext2": "4,598.63",
        "ext3": "4,220.5",
        "nilfs2": "3,055.57",
        "reiserfs": "3,147.33",
        "xfs": "4,351.04",
    }
    assert rows["printed"]["W", "nilfs2"] == "1.5689"
    assert rows["printed"]["AI (ops/J)", "ext2"] == "2,548.85"
    assert dict(rows["over ext2, printed"]["AI (ops/J)"]) == {
        "ext2": "1",
        "ext3": "0.9",
        "nilfs2": "0.764",
        "reiserfs": "0.714",
        "xfs": "0.855",
    }
    for system, ratio in FASTER.items():
        value, low, high = numbers_in(rows["here"]["ops/s", system])
        assert low < value < high and value == pytest.approx(1000 * ratio, rel=0.02)
        if system != "ext2":
            value, low, high = numbers_in(rows["over ext2, here"]["ops/s", system])
            assert low < value < high and value == pytest.approx(ratio, rel=0.02)
    assert list(rows.loc[("ops/s", "reiserfs")][["here", "over ext2, here"]]) == [NOT_RUN] * 2


def test_table_3_has_no_number_of_power_that_moves():
    """Rule 24 holds for a cell as it does for the comparison that stands beside it."""
    table = trials()
    table.loc[table["file_system"] == "xfs", "steady_power"] = "no steady state"
    found = file_server(PRINTED, cells_table(table, synthetic.BOUNDS), compared(table))
    rows = found[found["file system"] == "xfs"].set_index("number")
    for column in ("here", "over ext2, here"):
        assert (rows[column] == "no steady state").to_dict() == {
            "ops/s": False,
            "W": True,
            "AI (ops/J)": True,
        }


def numbers_in(text):
    return [float(number.replace(",", "")) for number in re.findall(r"[\d.,]*\d", text)]


def test_table_3_of_a_campaign_without_cfq_or_file_server_has_print_alone():
    """There may be no comparison at all, and then `effects.csv` is empty."""
    alone = trials([pair("varmail", "ext2", "none")])
    cells = cells_table(alone, synthetic.BOUNDS)
    found = file_server(PRINTED, cells, pd.DataFrame())
    assert len(found) == 3 * len(FILE_SYSTEMS)
    assert {*found["here"]} == {NOT_RUN}
    assert {*found["over ext2, here"]} == {NOT_RUN}
    assert changes(pd.DataFrame()).empty


def test_operations_per_joule_above_idle_stand_beside_ai():
    """Total over total, with an interval; idle watts would else decide where a guest is slow."""
    table = trials()
    cells = cells_table(table, synthetic.BOUNDS)
    of = table[table["file_system"] == "xfs"]
    expected = of["work_ops"].sum() / (of["energy_j"] - 1.5).sum()
    shown = pairs(with_net(cells, table)).set_index("file system")
    value, low, high = numbers_in(shown.loc["xfs", "ops/J above idle"])
    assert low < value < high and value == pytest.approx(expected, rel=5e-3)
    assert numbers_in(shown.loc["xfs", "AI (ops/J)"])[0] < value
    assert [*shown.columns[-3:]] == ["W", "AI (ops/J)", "ops/J above idle"]


def test_a_trial_that_took_no_more_than_a_drive_at_rest_leaves_it_unknown():
    table = trials()
    table.loc[table["file_system"] == "xfs", "energy_above_idle_j"] = -0.1
    net = with_net(cells_table(table, synthetic.BOUNDS), table).set_index("file_system")
    assert math.isnan(net.loc["xfs", "net_efficiency_ops_j"])
    assert net.loc["ext2", "net_efficiency_ops_j"] > 0
    assert pairs(net.reset_index()).set_index("file system").loc["xfs"].iloc[-1] == "not known"


@pytest.mark.parametrize(
    ("ran", "guest", "told"),
    [
        (["ext2", "xfs"], False, "NILFS2 and ReiserFS, which this campaign lacks."),
        (FILE_SYSTEMS, True, "NILFS2 and ReiserFS: this campaign has them, but in a guest"),
        (FILE_SYSTEMS, False, "Claims about the two other SSDs have no verdict from trials."),
    ],
)
def test_the_report_says_why_claims_have_no_verdict(ran, guest, told):
    """It said of campaigns in a guest, which were measured for these, that nothing has them yet."""
    text = without_verdict(ran, guest)
    assert told in text
    assert ("lacks" in text) == ("nilfs2" not in ran)
    assert ("guest" in text) == guest


def test_in_a_guest_a_claim_on_all_five_says_that_it_takes_an_old_kernel():
    """ReiserFS left Linux, so that another testbed alone is not enough."""
    of_paper = Claims.of("sun14", CHECKS, RECOMPUTED)
    every = [
        pair(workload, system, scheduler)
        for workload in WORKLOADS
        for system in FILE_SYSTEMS
        for scheduler in SCHEDULERS
    ]
    table = synthetic.frame_of(every, lambda cell: 1.0, lambda cell: 2.0, "modelled", blocks=2)
    source = OfSimulatedDrive(table, 0.05, of_paper.needs, "modelled", treatments=())
    for slug in ("s_vm_reiser_low", "s_fs_best", "s_best_summary"):
        parts = parts_of(of_paper, slug, source, CHECKS)
        needs = missing([on_testbed(part, of_paper, slug, "vm") for part in parts])
        assert of_paper.needs["old-kernel"] in needs, slug
        assert of_paper.needs["old-kernel"] not in missing(
            [on_testbed(part, of_paper, slug, "simdisk") for part in parts]
        )


@pytest.mark.parametrize(
    "ran", [UNDER_CFQ[:2], [pair("varmail", system, "none") for system in ("ext2", "xfs")]]
)
def test_all_tables_are_written_and_the_report_lists_them(ran, tmp_path, monkeypatch):
    """Also of a campaign that has neither the file server nor CFQ."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))

    def work(planned, ops):
        return {**synthetic.workload(planned, ops), "variables": VARIABLES}

    plan = synthetic.make_plan(ran, blocks=3, study="sun14")
    synthetic.write_raw("small", plan, kind="simdisk", workload=work)
    reduce.write("small")
    confounds.write("small")
    standard.write("small")
    write_tables("small", reduce.read_table("small", "cells"), pd.DataFrame({"pair": []}))
    written = {file.stem for file in (paths.results("small") / "tables").glob("*.csv")}
    assert written == {"table1", "table2", "table3", "pairs", "leaders", "changes"}
    text = (paths.root() / "paper" / "sun14.typ").read_text()
    assert all(name in text for name in written)
    second = pd.read_csv(paths.results("small") / "tables" / "table2.csv", index_col="workload")
    workload = ran[0]["workload"].removesuffix("-sun14")
    assert second.loc[workload, ["files, here", "run (s), here"]].tolist() == ["1,000", "10"]
