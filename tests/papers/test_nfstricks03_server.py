"""Readers of a server in nfstricks03: its claims and figures say what their cells show."""

from dataclasses import replace
from functools import partial

import pandas as pd
import pytest
import synthetic
import synthetic_readers

from fsgreen import design
from fsgreen.analysis.claims.ledger import VIRTUAL, judge_claims
from fsgreen.claims import SIZE_EXCLUDED, SIZE_OPEN, combine
from fsgreen.papers.judging import claims_of
from fsgreen.papers.nfstricks03 import experiments
from fsgreen.papers.nfstricks03.claims import CHECKS
from fsgreen.papers.nfstricks03.figures import flagged, of_server
from fsgreen.papers.nfstricks03.published import RECOMPUTED
from fsgreen.papers.nfstricks03.readers import MIB, Runs
from fsgreen.papers.nfstricks03.reference import PAPER, Printed, setup
from fsgreen.papers.nfstricks03.served import figure_lines
from fsgreen.papers.nfstricks03.sources import Readers
from fsgreen.papers.nfstricks03.tables import served

PLAN = design.make_plan(design.load_study(PAPER), "nfs")
OF_PAPER = claims_of(PAPER)
READ_MIB = 64


def rate_mib_s(cell):
    """As the paper has it, more or less: half of the file system itself, and its three tricks."""
    rate = synthetic_readers.rate_mib_s(cell)
    if cell["workload"] != "nfs":
        return rate
    if "strides" in cell:
        return 8 * (1.7 if cell["heuristic"] == "cursors" else 1.0)
    rate *= 0.5 / (1 + 0.002 * (cell["readers"] - 8) * (cell["transport"] == "udp"))
    if cell["table"] == "small" and cell["readers"] > 4:
        rate /= 2
    return rate * (0.6 if "late_percent" in cell else 1)


def served_runs(clock="real time", rate=rate_mib_s):
    """Runs of the plan by a clock."""
    rows = []
    for nth, planned in enumerate(PLAN.trials):
        cell, duration_s = planned.cell, READ_MIB / rate(planned.cell) * (1 + 0.001 * (nth % 3))
        row = synthetic.row(planned, PLAN.levels(cell), 1.0, 250.0, "modelled")
        late = (
            10 * cell["readers"] / (1 + ("nfsiods" in cell)) * (cell["transport"] == "udp")
            if (cell["workload"] == "nfs")
            else float("nan")
        )
        row |= {"duration_s": duration_s, "bandwidth_b_s": READ_MIB * MIB / duration_s}
        row |= {"nfs_late_count": late, "nfs_reads_count": 8192, "files_b": READ_MIB * MIB}
        ahead_b = READ_MIB * MIB * (0.2 if "late_percent" in cell else 1) * (1 + 0.001 * (nth % 3))
        row |= {"read_b": READ_MIB * MIB, "nfs_ahead_b": ahead_b}
        rows.append(row)
    empty = pd.DataFrame(columns=["trial", "rank", "ended_s"])
    return Runs(clock, pd.DataFrame(rows), empty, 0.25)


def verdicts(runs, *slugs, testbed="simdisk"):
    claims = replace(OF_PAPER, stated={slug: OF_PAPER.stated[slug] for slug in slugs})
    sources = {testbed: Readers.of(runs, 0.05, OF_PAPER.needs)}
    ledger = judge_claims(claims, sources, CHECKS, RECOMPUTED, Printed.load())
    return {slug: combine(parts)[0] for slug, parts in ledger.items()}


def test_a_server_as_published_reproduces_the_published():
    found = verdicts(
        served_runs(),
        *("nfs_reorder_kills_readahead", "nfs_half_local", "udp_falls", "zcav_tcq_in_nfs"),
        *("slowdown_alone", "nfsheur_bigger", "slowdown_no_more", "nfsheur_presence"),
        *("cursor_50", "reorder_growth", "reorder_6_2"),
    )
    assert set(found.values()) <= {"reproduced", "by construction"}, found


@pytest.mark.parametrize(
    ("slug", "change", "verdict"),
    [
        ("cursor_50", lambda cell: 1 / 1.7 if cell.get("heuristic") == "cursors" else 1, None),
        ("nfsheur_presence", lambda cell: 2 if cell.get("table") == "small" else 1, None),
        ("nfsheur_presence", lambda cell: 0.9 if cell.get("table") == "large" else 1, None),
        ("nfs_half_local", lambda cell: 2 if cell["workload"] == "nfs" else 1, None),
        ("udp_falls", lambda cell: cell["readers"] if cell["workload"] == "nfs" else 1, "reversed"),
    ],
)
def test_a_server_that_does_otherwise_is_not_called_as_published(slug, change, verdict):
    runs = served_runs(rate=lambda cell: rate_mib_s(cell) * change(cell))
    found = verdicts(runs, slug)[slug]
    assert found == verdict if verdict else found not in ("reproduced", "by construction")


STRIDES = ("stride_ide1_s2", "stride_ide1_s8", "stride_scsi1_s2", "stride_scsi1_s8", "cursor_140")


def as_printed(cell, cursors=1.0):
    """A reader in strides is as fast as table 1 has it, with cursors by a factor faster."""
    if "strides" not in cell:
        return rate_mib_s(cell)
    partition = {"wd200bb": "ide1", "ddys-t36950n": "scsi1"}[cell["disk"]]
    name, factor = {"cursors": ("cursor", cursors)}.get(cell["heuristic"], ("default", 1.0))
    table = Printed.load().table(1).set_index(["partition", "stride", "read_ahead"])
    return factor * table.loc[(partition, cell["strides"], name), "throughput_mb_s"]


def test_strides_as_table_1_has_them_reproduce_it():
    found = verdicts(served_runs(rate=as_printed), *STRIDES)
    assert found == dict.fromkeys(STRIDES, "reproduced")
    five_fold = verdicts(served_runs(rate=partial(as_printed, cursors=5.0)), *STRIDES)
    assert five_fold.pop("cursor_140") == SIZE_EXCLUDED
    assert set(five_fold.values()) == {"not reproduced"}


def test_read_ahead_that_is_halved_is_not_called_disabled():
    """A reader that lost a quarter of its rate and half of its read-ahead showed the claim."""
    runs = served_runs()
    late = runs.trials["late_percent"].notna()
    kept = runs.trials["nfs_ahead_b"].mask(late, 0.53 * READ_MIB * MIB)
    runs = replace(runs, trials=runs.trials.assign(nfs_ahead_b=kept))
    assert verdicts(runs, "nfs_reorder_kills_readahead") == {
        "nfs_reorder_kills_readahead": "direction only, size excluded"
    }


def test_readers_of_files_are_not_taken_for_readers_of_a_server():
    """Both have 8 readers of one disk: together they would be neither."""
    runs = served_runs()
    local = runs.cell(setup("ide1", 8))
    assert set(local["workload"]) == {"sequential-readers"} and len(local) == 5
    line = figure_lines()["4"]["ide1"]
    assert set(runs.cell(line[8])["transport"]) == {"udp"} and len(runs.cell(line[8])) == 5


def test_virtual_readers_of_files_are_judged_in_one_campaign_alone():
    """The runs of both campaigns are the same to the bit: pooled they would count twice."""
    runs = served_runs(clock="virtual time")
    found = verdicts(runs, "local_rises", "cursor_140", testbed=VIRTUAL)
    assert found["local_rises"] == "not testable here"
    assert found["cursor_140"] == SIZE_OPEN


def test_cells_that_a_model_cannot_tell_apart_are_no_evidence_that_they_are_alike():
    """In virtual time no request is late: SlowDown did as the default to the bit, and was called
    reproduced."""
    runs = served_runs(clock="virtual time", rate=lambda cell: rate_mib_s(cell))
    alike = runs.trials.assign(duration_s=1.0, bandwidth_b_s=READ_MIB * MIB)
    found = verdicts(replace(runs, trials=alike), "slowdown_alone", testbed=VIRTUAL)
    assert found["slowdown_alone"] == "by construction"


def test_the_model_takes_what_it_has_a_model_of():
    """TCP, daemons and loops have none: their cells would be those of UDP under another name."""
    asked = {planned.cell: experiments.experiment(PLAN, planned) for planned in PLAN.trials}
    for cell, experiment in asked.items():
        without = cell["workload"] == "nfs" and (cell["transport"] == "tcp" or "nfsiods" in cell)
        assert (experiment is None) == without
    small = next(one for cell, one in asked.items() if one and cell.get("table") == "small")
    assert small["work"]["nfs"]["read_ahead"]["slots"] == 4
    in_strides = [one for cell, one in asked.items() if one and "strides" in cell]
    assert {one["work"]["nfs"]["in_flight"] for one in in_strides} == {1}


def test_each_figure_has_a_panel_for_each_clock_that_ran_and_says_that_the_disk_is_simulated():
    runs = [served_runs(), served_runs(clock="virtual time")]
    for number, lines in figure_lines().items():
        points = Printed.load().points(number)
        figure = of_server(runs, lines, "concurrent readers", points)
        ours = figure.axes[number == "8" :]
        assert len(ours) == 2
        for axes in ours:
            assert "simulated disk" in [text.get_text() for text in axes.texts]
    [line] = [
        container.lines[0]
        for container in ours[0].containers
        if container.get_label() == "ide1 cursor"
    ]
    assert line.get_ydata() == pytest.approx([13.6] * 2, rel=0.01)
    none = [replace(one, trials=one.trials[one.trials["readers"] == 64]) for one in runs]
    figure = of_server(none, figure_lines()["4"], "concurrent readers")
    assert "This campaign has none" in figure.axes[0].texts[0].get_text()


def test_the_table_says_what_was_not_run():
    rows = served([served_runs()]).set_index(["figure", "line"])
    assert rows.loc[("5", "ide1"), "16"] == "not run"
    assert rows.loc[("8", "ide1 default"), "2"].startswith("7.99")


def test_a_flag_stays_with_its_own_cell():
    effects = pd.DataFrame(
        [
            {"gate": "flagged", "metric": "throughput", "workload": "nfs", **levels}
            for levels in [dict(setup("ide1", 8)) | {"heuristic": "always", "table": "freebsd4"}]
        ]
    )
    [cell] = flagged(effects)
    assert cell["workload"] == "nfs" and cell["heuristic"] == "always"
