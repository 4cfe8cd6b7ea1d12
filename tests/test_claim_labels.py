"""What a reader sees before each of several numbers of one claim."""

import pytest

from fsgreen.claims import labelled, published_labelled


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (
            ["varmail power: ext3 over ext2", "varmail power: xfs over ext2"],
            ["ext3 over ext2", "xfs over ext2"],
        ),
        (
            ["MiB/s of scsi1, 8 readers (real time)", "MiB/s of scsi1, 16 readers (real time)"],
            ["8 readers (real time)", "16 readers (real time)"],
        ),
        (["write: f2fs, over that at 1", "read: f2fs, over that at 1"], ["write", "read"]),
        (
            ["deviation (median, least), all cells", "deviation (median, most), all cells"],
            ["deviation (median, least)", "deviation (median, most)"],
        ),
        (["gain, on web", "gain, on file, on web"], ["gain, on web", "gain, on file, on web"]),
    ],
    ids=["begin", "clock", "both ends", "parentheses", "nothing left of one"],
)
def test_a_label_is_what_tells_a_part_from_the_others(names, labels):
    """A column had several numbers, and nobody could tell which part each was of."""
    numbers = ["0x", "1x"]
    found = labelled(zip(names, ["2x", "2x"], numbers, strict=True))
    assert found == [f"{label}: {ours}" for label, ours in zip(labels, numbers, strict=True)]


def test_one_number_of_all_parts_stands_alone():
    assert labelled([("ext3", "1x", "1x [1, 1]"), ("xfs", "1x", "1x [1, 1]")]) == ["1x [1, 1]"]


def test_parts_of_one_name_are_told_apart_by_what_was_published():
    parts = [("by table 2", "+9 %", "+8.7 %"), ("by table 2", "+8 %", "+8.4 %")]
    assert labelled(parts) == ["published +9 %: +8.7 %", "published +8 %: +8.4 %"]


def test_a_part_without_a_number_is_not_named_twice():
    """Its name is what was found."""
    said = "SSD-K: 64 GB in table 1, 80 GB in section 4.1"
    assert labelled([(said, "one capacity", said), ("power", "3.3 W", "3.2 W")]) == [
        said,
        "power: 3.2 W",
    ]


def test_each_published_number_has_the_label_of_ours():
    """Of "1x; 2x" nobody could tell which one a number of ours was to be compared with."""
    names = ["power: ext3 over ext2", "power: xfs over ext2", "power: spread"]
    ours = labelled(zip(names, ["1x", "2x", ""], ["1.1x", "2.1x", "3 W"], strict=True))
    assert ours == ["ext3 over ext2: 1.1x", "xfs over ext2: 2.1x", "spread: 3 W"]
    assert published_labelled(zip(names, ["1x", "2x", ""], strict=True)) == [
        "ext3 over ext2: 1x",
        "xfs over ext2: 2x",
    ]
    assert published_labelled(zip(names, ["1x", "1x", ""], strict=True)) == ["1x"]
    assert published_labelled(zip(names, ["1x", "2x", "2x"], strict=True)) == [
        "ext3 over ext2: 1x",
        "xfs over ext2, spread: 2x",
    ]
    assert published_labelled([("ext3", "")]) == []
