"""A fleet that ships: its testbeds side by side in the ledger, and how far they differ."""

import json

import pandas as pd
import pytest

from fsgreen import gathered, ledger, paths
from fsgreen.gathered import fleets
from fsgreen.reduce import read_csv, write_csv
from tests.gathered import sending
from tests.parts_of_claims import part_of_a_campaign

OVER = "webserver: ext4/default over xfs/default"
SPEEDS = {"disk": (1, 1.0, "loop"), "guest": (3, 3.0, "vm"), "memory": (2, 1.2, "loop")}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """A fleet of three testbeds, one of them a guest, and two campaigns that are of no fleet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setattr(paths, "ships", lambda name: name != "own.disk")
        for testbed, (seed, speed, kind) in SPEEDS.items():
            sending.analyse(f"fleet.{testbed}", seed, speed, kind)
            fleets.ship(f"fleet.{testbed}")
        for name in ("alone", "own.disk"):
            sending.analyse(name, 4, 1.0)
            fleets.ship(name)
        row = part_of_a_campaign(slug="web_ext3_xfs", needs="")
        told = paths.told("fast10", "alone", shipped=True)
        write_csv(pd.DataFrame([row]).assign(campaign="alone"), told)
        yield ledger.write("fast10")


def test_a_fleet_is_known_by_the_names_of_its_campaigns(shipped):
    """One's own campaigns and those of a single testbed are no part of it."""
    numbers = json.loads((shipped / "numbers.json").read_text())
    (fleet,) = numbers["fleets"]
    assert fleet["name"] == "fleet"
    assert [line.partition(":")[0] for line in fleet["testbeds"][:3]] == ["1", "2", "3"]
    assert "2: fleet.guest: " in fleet["testbeds"][1]
    assert [folder.name for folder in (shipped / "fleets").iterdir()] == ["fleet"]


def test_what_is_simulated_stands_beside_and_is_not_pooled(shipped):
    """A guest three times as fast would make a spread that no machine has."""
    machines = read_csv(shipped / "fleets" / "fleet" / "machines.csv")
    of = machines[(machines["comparison"] == OVER) & (machines["metric"] == "throughput")]
    assert list(of["basis"]) == ["measured", "simulated", "measured"]
    assert list(of["pooled"]) == [True, False, True]
    together = read_csv(shipped / "fleets" / "fleet" / "together.csv")
    (row,) = together[
        (together["comparison"] == OVER) & (together["metric"] == "throughput")
    ].to_dict("records")
    assert row["files_count"] == 2 and 1 / 1.2 < row["ratio_x"] < 1


def test_how_far_testbeds_differ_stands_in_the_outcome_and_in_the_report(shipped):
    *_, said = (shipped / "outcome.txt").read_text().splitlines()
    assert said.startswith("fleet fleet: 3 testbeds, 1 of them simulated; ")
    together = read_csv(shipped / "fleets" / "fleet" / "together.csv")
    apart = int((together["same_holm_p"] < 0.05).sum())
    assert apart > 0
    assert f"{len(together)} comparisons in a metric" in said
    assert f"more than their intervals in {apart}; " in said
    (fleet,) = json.loads((shipped / "numbers.json").read_text())["fleets"]
    shown = [figure["file"] for figure in fleet["figures"]]
    assert "fleet/forest_throughput.svg" in shown
    assert all((shipped / "fleets" / file).is_file() for file in shown)
    assert (shipped / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("shipped")
def test_what_ships_is_what_one_would_send_in():
    """So one's own file can be put beside it."""
    file = paths.told("fast10", "alone", shipped=True).with_name("alone.results.json")
    assert gathered.read(file) == gathered.results_of("alone")


def test_a_study_without_a_fleet_has_an_empty_folder(tmp_path, monkeypatch):
    """The pipeline asks for one; what a fleet left there before does not stay."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    (tmp_path / "before" / "gone").mkdir(parents=True)
    assert fleets.write("fast10", tmp_path / "before") == []
    assert not [*(tmp_path / "before").iterdir()]
