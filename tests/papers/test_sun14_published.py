"""What sun14 prints is held against what else it prints."""

import pytest

from fsgreen.analysis.claims import Claims
from fsgreen.claims import shown
from fsgreen.papers.sun14.claims import CHECKS
from fsgreen.papers.sun14.published import RECOMPUTED
from fsgreen.papers.sun14.reference import FILE_SYSTEMS, PAPER, Printed

OF_PAPER = Claims.of(PAPER, CHECKS, RECOMPUTED)


def test_printed_numbers_are_held_against_each_other():
    """AI is operations over watts in all rows of table 3; of the controllers one is as claimed."""
    printed = Printed.load()
    found = {
        slug: [part.verdict for part in function(printed, OF_PAPER.stated[slug]["numbers"])]
        for slug, function in RECOMPUTED.items()
    }
    for name in FILE_SYSTEMS:
        assert found[f"s_t3_{name}"][0] == "reproduced"
    assert found["s_controller"] == ["reproduced", "not reproduced"]
    assert found["s_t3_order"] == ["reproduced"] * 3


@pytest.mark.parametrize(
    ("slug", "expected", "told"),
    [
        ("s_t1_ssd_s", ["not reproduced"], "0.4094 W at least, 1.5 W at rest"),
        ("s_t1_ssd_k", ["not reproduced"] * 2, "64 GB in table 1, 80 GB in section 4.1"),
        ("s_vm_cfq_power", ["not reproduced"] * 2, "CFQ: SSD-K 1.1374 W, SSD-S 0.4094 W"),
        ("s_vm_range_ext2cfq", ["not reproduced"], "0.535 W, and 0.553 W in a later sentence"),
        ("s_fs_gc_swings", ["not reproduced", "reproduced"], "file server 0.6 W, web server 1.6 W"),
        ("s_fs_ranges", ["reproduced"], "NILFS2-CFQ 1.5 W, Ext2-Deadline 0.6 W"),
        ("s_fs_nilfs", ["not reproduced"] * 2, "AI of SSD-I in table 3: ext2, ext3, xfs, nilfs2"),
    ],
)
def test_where_the_paper_contradicts_itself_it_is_named(slug, expected, told):
    """What no drive here can test is held against what the paper prints elsewhere."""
    parts = list(RECOMPUTED[slug](Printed.load(), OF_PAPER.stated[slug]["numbers"]))
    tested = [part for part in parts if part.tested]
    assert [part.verdict for part in tested] == expected
    assert any(told in part.what for part in tested), [part.what for part in tested]
    assert all(part.tested or part.needs in OF_PAPER.needs for part in parts)


def test_a_share_is_held_against_a_share():
    """67 % of 100 was read as 67 % more, and what the paper prints twice as another size."""
    found = [*RECOMPUTED["s_fs_mix"](Printed.load(), OF_PAPER.stated["s_fs_mix"]["numbers"])]
    assert [part.verdict for part in found] == ["reproduced"] * 2
    assert [shown(part) for part in found] == ["66.7 %", "33.3 %"]
