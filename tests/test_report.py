"""The PDF: every number generated, the same bytes each time, and whole or not at all."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
import synthetic
import typst

from fsgreen import confounds, design, paths, recommend, reduce, report
from fsgreen.analysis import interactions, standard
from fsgreen.errors import FsgreenError
from fsgreen.papers import judging
from fsgreen.papers.fast10 import figures
from fsgreen.rules.reporting import typed_numbers

TEXTS = sorted((paths.root() / "paper").glob("*.typ"))
BLOCKS = (paths.root() / "paper" / "blocks.typ").read_text()
PROBES = {
    "offset": [{"offset_b": 0, "pass": 0, "bandwidth_b_s": 1e9}],
    "queue": [],
}


def run_all(campaign):
    """The stages of the pipeline after collection, in their order."""
    reduce.write(campaign)
    confounds.write(campaign)
    standard.write(campaign)
    interactions.write(campaign)
    interactions.draw(campaign)
    figures.write(campaign)
    recommend.write(campaign)
    judging.write(campaign)
    return report.write(campaign)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A campaign of the quick kind: two file systems, one workload, two blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        cells = [
            design.Cell(workload="webserver", file_system="ext4"),
            design.Cell(workload="webserver", file_system="xfs"),
        ]
        synthetic.write_raw("quick", synthetic.make_plan(cells), probes=PROBES)
        yield run_all("quick")


def test_a_small_campaign_has_a_whole_report(made):
    """Every stage works with two cells and n = 2, and the ledger still has 99 claims."""
    assert made.read_bytes().startswith(b"%PDF")
    numbers = json.loads((made.parent / "numbers.json").read_text())
    assert numbers["claims"]["total"] == 99
    assert sum(sum(row["counts"]) for row in numbers["verdicts"]) == 99
    assert numbers["trials"]["whole"] == 4
    assert not numbers["trials"]["enough"]
    assert any("reiserfs" in line for line in numbers["not_run"])


def test_a_small_campaign_shows_no_row_that_was_not_run(made):
    """Its report had pages of "not run", and "Of 0 published numbers" above an empty table."""
    tables = {file.stem: file.read_text() for file in (made.parent / "tables").glob("*.csv")}
    assert not any("not run" in text.partition("\n")[2] for text in tables.values())
    rows = {name: len(text.splitlines()) - 1 for name, text in tables.items()}
    assert [rows[name] for name in ("table1", "table3", "table2", "micro", "agreement")] == [
        *(1, 1),
        *(0, 0, 0),
    ]
    left_out = json.loads((made.parent / "numbers.json").read_text())["left_out"]
    assert left_out["micro"]["command"] == "fsgreen measure fast10 --profile micro"
    assert [left_out[name]["what"].split(" of ")[0] for name in ("micro", "table1")] == [
        "Left out: 5 rows",
        "Left out: 3 rows",
    ]
    shown = headings(made.parent)
    assert "Micro-benchmarks" in shown, "what was left out is not said"
    assert "What no longer holds" not in shown
    assert "How often they come out as published" not in shown


def headings(results):
    """The headings of a report of fast10, as one text."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for text in paths.texts("*").values():
            shutil.copy(text, folder)
        shutil.copytree(results, folder, dirs_exist_ok=True)
        return typst.query(
            str(folder / "fast10.typ"),
            "heading",
            root=str(folder),
            ignore_system_fonts=True,
            sys_inputs={"kind": "pdf"},
        )


def test_trials_that_do_not_count_have_a_place_in_the_report(made, tmp_path):
    """It said that trials were set aside, and named none."""
    heading = "Trials that do not count"
    assert heading not in headings(made.parent)
    other = shutil.copytree(made.parent, tmp_path / "results")
    numbers = json.loads((other / "numbers.json").read_text())
    kind = {"what": "7 trials failed", "trials": ["a: why"], "others": 6, "all": "ls folder"}
    (other / "numbers.json").write_text(json.dumps(numbers | {"set_aside": [kind]}))
    assert heading in headings(other)


def test_what_the_numbers_stand_on_is_said_before_anything_else(made):
    """RAM, scale and who answered the reads stood on pages 13 and 30."""
    setup = dict(json.loads((made.parent / "numbers.json").read_text())["setup"])
    assert {"Testbed", "Scale", "Reads", "Meters"} <= setup.keys()
    assert all(f'"{row}"' in grounds_of(BLOCKS) for row in ("Testbed", "Scale", "Reads", "Meters"))
    for text in ("fast10", "nfstricks03", "published", "study"):
        before = (TEXTS[0].parent / f"{text}.typ").read_text().partition("grounds(data.setup)")
        assert before[1], f"{text}.typ says nothing of it"
        assert not re.search(r"^ *= ", before[0], re.MULTILINE), f"{text}.typ says it late"


def test_which_file_system_does_most_work_is_said_before_the_verdicts():
    """Whoever wants to know it read through 99 claims first."""
    text = (paths.root() / "paper" / "fast10.typ").read_text()
    assert text.index("= Which file system does most work here") < text.index("= Verdicts on")


def test_numbers_outside_of_intervals_are_counted_beside_how_many_chance_puts_there():
    """ "27 of 42 lie outside" stood beside a table under Holm, and nothing corrects these."""
    text = " ".join((paths.root() / "paper" / "fast10.typ").read_text().split())
    _, counted, told = text.partition("#outside.len() lie outside it.")
    assert counted and told.startswith(" If all were still true, at least one in twenty would lie")


def grounds_of(blocks):
    return blocks.partition("#let grounds(")[2].partition("\n#let ")[0]


def test_the_same_results_give_the_same_bytes(made):
    """A second run of the pipeline must leave version control clean.

    That of all stages does, which tests/pipeline/test_reproduction.py shows of shipped campaigns.
    """
    before = made.read_bytes()
    assert report.write("quick").read_bytes() == before


def test_a_missing_figure_is_named(made):
    """Half a report would look like a whole one."""
    moved = made.parent / "away"
    shutil.move(made.parent / "figures", moved)
    try:
        with pytest.raises(FsgreenError, match="has not been made") as caught:
            report.write("quick")
        assert "figures" in caught.value.where
    finally:
        shutil.move(moved, made.parent / "figures")


@pytest.mark.parametrize("text", [t for t in TEXTS if t.stem != "style"], ids=lambda t: t.name)
def test_no_number_is_typed_into_the_text(text):
    """Rule 43: the text holds no digit outside of names, captions in quotes included."""
    assert typed_numbers(text.read_text()) == []


def test_labels_of_modelled_power_reach_the_text(made):
    """The boundary that the report states is that of the campaign."""
    numbers = json.loads((made.parent / "numbers.json").read_text())
    assert numbers["boundary"] == "modelled"
    power = [entry["caption"] for entry in numbers["figures"] if "power" in entry["caption"]]
    assert power
    assert all("modelled power" in caption for caption in power)


GUEST = ["Guest", "Linux 6.1, 2 cores, 1024 MiB, in QEMU 7.2; times are synthetic"]
SIMULATED = [
    (
        "vm",
        {"model": "its own disk"},
        "in a virtual machine; simulated disk: its own disk",
        [GUEST, ["Disks", "its own disk, simulated"]],
    ),
    ("vm", {}, "in a virtual machine", [GUEST]),
    ("simdisk", {}, "simulated disk: synthetic disk", [["Disks", "synthetic disk, simulated"]]),
]
"""The kind of testbed, what it says of itself, and what figures and setup say of it."""


@pytest.mark.parametrize(
    ("kind", "testbed", "on_figures", "said"),
    SIMULATED if "FSGREEN_NIGHTLY" in os.environ else SIMULATED[:1],
)
def test_a_campaign_on_what_is_simulated_measured_nothing(
    kind, testbed, on_figures, said, tmp_path, monkeypatch
):
    """Its speeds are those of a model: no verdict may call them measured, no setup hide it."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    of_any_state = {"workload": "shared-append"}  # its claim asks for no state of the device
    cells = [design.Cell(**of_any_state, file_system=name) for name in ("ext3", "xfs")]
    synthetic.write_raw(
        "model", synthetic.make_plan(cells), probes=PROBES, kind=kind, testbed=testbed
    )
    made = run_all("model")
    numbers = json.loads((made.parent / "numbers.json").read_text())
    assert all(line in numbers["setup"] for line in said)
    assert reduce.simulated("model") == on_figures
    assert numbers["claims"]["measured"] == 0 < numbers["claims"]["simulated"]
