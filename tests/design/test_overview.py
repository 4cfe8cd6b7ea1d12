"""What `fsgreen plan` shows is what a reader needs before a night of measuring."""

from __future__ import annotations

import pytest
import synthetic

from fsgreen import design
from fsgreen.design import Cell
from fsgreen.design.overview import describe, spell


def shown(*args, **kwargs) -> str:
    return "\n".join(describe(synthetic.make_plan(*args, **kwargs), design.load_study("fast10")))


def test_blocks_and_time_are_spans_where_cells_may_end_early() -> None:
    text = shown(blocks=5, most_blocks=10)
    assert "2 cells x 5 to 10 blocks = 10 to 20 trials" in text
    assert "at least 2 min to 4 min" in text
    assert "blocks beyond 5 hold the cells with half-widths of 5 % or more" in text


def test_a_fixed_number_of_blocks_is_no_span() -> None:
    text = shown(blocks=2)
    assert "2 cells x 2 blocks = 4 trials" in text
    assert "beyond" not in text


def test_one_of_a_kind_is_no_plural() -> None:
    assert "1 cell x 1 block = 1 trial" in shown([Cell(workload="webserver", file_system="xfs")], 1)


def test_what_varies_and_what_does_not_and_what_is_left_out() -> None:
    text = shown(
        [
            Cell(workload="webserver", file_system="xfs"),
            Cell(workload="webserver", file_system="xfs", device="aged"),
        ]
    )
    varies, _, rest = text.partition("what does not:")
    assert "  device: initial, aged" in varies
    assert "file_system" not in varies
    assert "  file_system: xfs" in rest
    assert "  cache: cold" in rest
    assert "  load_ops_s: as fast as it goes" in rest
    assert "  reiserfs: it left Linux in 6.13" in rest
    assert "  webserver-xfs-default  (baseline)" in rest


def test_a_reason_that_no_longer_holds_says_what_became_of_it() -> None:
    """A reader would take an old limit for one of today."""
    study = design.load_study("massie25")
    entry = next(entry for entry in study.exclusions if entry.since)
    text = "\n".join(describe(design.make_plan(study, "guest"), study))
    assert f"{entry.why} (so it was when this was planned; since then: {entry.since})" in text


def test_what_no_cell_has_is_not_told_and_what_some_lack_is() -> None:
    """A study of a real disk says nothing of simulated ones."""
    cell = Cell(workload="sequential-readers", file_system="ext2")
    assert "disk" not in shown([cell])
    disk = cell.but(disk="wd200bb", queue_depth=1)
    text = shown([disk.but(readers=32), cell, disk.but(readers=8)])
    assert "  readers: the workload's own, 8, 32" in text
    assert "  disk: the testbed's own, wd200bb" in text


def test_readers_that_end_by_themselves_take_at_most_as_long_as_they_may() -> None:
    """The length of their phase is a limit, and the campaign is over long before it."""
    assert "at most 52 s" in shown(
        [Cell(workload="sequential-readers", file_system="ext2", readers=n) for n in (1, 8)]
    )


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (0, "0 s"),
        (99, "99 s"),
        (100, "2 min"),
        (840, "14 min"),
        (7200, "2.0 h"),
        (9e5, "10.4 days"),
    ],
)
def test_times_are_told_as_people_say_them(duration_s: float, text: str) -> None:
    assert spell(duration_s) == text
