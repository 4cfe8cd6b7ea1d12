"""Beside a recommendation: what the change would probably do on the machine of somebody else."""

import pytest

from fsgreen import cli, gathered
from fsgreen.design import Cell
from fsgreen.errors import FsgreenError
from fsgreen.gathered import probably
from fsgreen.gathered.pools import tables

EXT4, XFS, NOATIME = (
    Cell(file_system=name, option=option)
    for name, option in (("ext4", "default"), ("xfs", "default"), ("ext4", "noatime"))
)


def told(results):
    return gathered.Gathered(["mine.json", "theirs.json"], results, *tables(results))


def line(found, now, to, metric="throughput"):
    said = [*probably.lines(found, "webserver", now, [to])][1:]
    (of_metric,) = [one for one in said if metric in one]
    return of_metric


def test_the_interval_is_that_of_the_next_machine(sent):
    found = told(sent)
    row = found.together.set_index(["metric", "comparison"]).loc[
        ("throughput", "webserver: ext4/default over xfs/default")
    ]
    ends = f"[{row['next_low_x']:.3g}, {row['next_high_x']:.3g}]"
    assert line(found, XFS, EXT4).startswith(f"  ext4/default: throughput {ends}, more or less")
    turned = f"[{1 / row['next_high_x']:.3g}, {1 / row['next_low_x']:.3g}]"
    assert turned in line(found, EXT4, XFS), "what there is now may be either side"
    assert "modelled power: decides nothing" in line(found, EXT4, XFS, "efficiency")


def test_what_no_two_files_compare_is_named(sent):
    said = [*probably.lines(told(sent), "webserver", XFS, [EXT4, NOATIME])]
    assert said[-1] == "  no two files compare with it: ext4/noatime"


def test_files_of_another_study_are_refused(sent):
    with pytest.raises(FsgreenError, match="of the study fast10, and the campaign is of mail"):
        probably.check_study(told(sent), "mail")


def test_the_command_says_it_beside_the_ranking(here, sent, capsys):
    for name, results in zip(("mine", "theirs"), sent, strict=True):
        (here / f"{name}.json").write_text(results.text())
    command = ["recommend", "--workload", "web", "--campaign", "one", "--now", "ext4"]
    assert cli.main([*command, "--gathered", "mine.json", "theirs.json"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "on the next machine, by 2 files of results" in shown
    assert "xfs/default: throughput [" in shown
    assert cli.main(command) == 0
    assert "next machine" not in capsys.readouterr().out
