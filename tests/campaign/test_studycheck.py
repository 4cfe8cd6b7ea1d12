"""Whether a study can be measured: all that its file can tell, with the line and what would do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from fsgreen.campaign import studycheck
from fsgreen.design import newstudy
from fsgreen.errors import FsgreenError

MIB = "image_mib: 4096         # size"


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    """Return a new study's file, whose words are changed at their first place."""
    text = newstudy.text("mine")
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after, 1)
    file = folder / "mine.yaml"
    file.write_text(text)
    return file


def line_of(file: Path, words: str) -> int:
    return next(n for n, line in enumerate(file.read_text().splitlines(), 1) if words in line)


@pytest.mark.parametrize(
    ("change", "at", "told"),
    [
        (("scheduler: none", "scheduler: mq-deadlin"), "mq-deadlin", "did you mean mq-deadline?"),
        (("[ext2, ext4, xfs]", "[ext4]\n    scheduler: [kyberr]"), "kyberr", "did you mean kyber?"),
        (("[webserver, varmail]", "[webserver, varmial]"), "varmial", "did you mean varmail?"),
        (("[ext2, ext4, xfs]", "[ext2, ext4, xsf]"), "xsf", "did you mean xfs?"),
        ((MIB, "image_mib: 1  #"), "image_mib: 1 ", "xfs with option default takes 300 at least"),
        ((MIB, f"image_mib: {2**43}  #"), f"{2**43}", "no file is larger than 8796093022207"),
        (
            ("ext4}   # measured", "ext3}  # "),
            "baseline: {",
            "did you mean webserver-ext4-default?",
        ),
        (
            ("blocks: 5\n    most", "blocks: 4\n    most"),
            "    blocks: 4",
            "fewer than 5 trials conclude nothing (rule 26): blocks: 5",
        ),
        (
            ("- what: file systems but these three", "- factor: file_system\n  levels: [xfs, jfs]"),
            "levels: [xfs, jfs]",
            "file_system xfs is left out, and the matrix all has it",
        ),
        (
            ("what: file systems but these three", "what: File system XFS"),
            "what: File system XFS",
            "'File system XFS' is left out, and the matrix all has it",
        ),
        (("why: a quick look", "why: ''"), "measure_s, profiles", "takes a text that is not empty"),
    ],
)
def test_what_cannot_be_measured_is_told_with_its_line(
    change: tuple[str, str], at: str, told: str, tmp_path: Path
) -> None:
    file = changed(tmp_path, change)
    with pytest.raises(FsgreenError) as caught:
        studycheck.check(file, "quick")
    assert told in caught.value.what
    assert caught.value.where == f"{file}:{line_of(file, at)}"


def test_a_profile_without_the_baseline_is_told_where_others_have_it(tmp_path: Path) -> None:
    file = changed(
        tmp_path,
        ("matrices:  ", "matrices:\n  some: {workload: [varmail], file_system: [xfs]}\n#"),
        ("  full:\n    matrices: [all]", "  full:\n    matrices: [some]"),
    )
    with pytest.raises(FsgreenError, match="profile full leaves out the baseline") as caught:
        studycheck.check(file, "quick")
    assert caught.value.where == f"{file}:{line_of(file, 'matrices: [some]')}"


def test_an_unknown_profile_is_told_with_a_command_that_works(tmp_path: Path) -> None:
    file = changed(tmp_path)
    with pytest.raises(FsgreenError, match="unknown profile 'quik', did you mean quick") as caught:
        studycheck.check(file, "quik")
    assert caught.value.where == f"{file}:{line_of(file, 'profiles:  ')}"
    assert caught.value.next_step == "fsgreen plan mine --profile quick"


def test_parts_of_a_workload_of_several_are_known(tmp_path: Path) -> None:
    both = "workloads:\n  both: {together: [webserver, varmial]}\nmatrices:  "
    file = changed(tmp_path, ("matrices:  ", both))
    with pytest.raises(FsgreenError, match="unknown workload 'varmial', did you mean varmail"):
        studycheck.check(file, "quick")


def test_an_image_that_fits_no_place_by_default_is_a_note(tmp_path: Path) -> None:
    """Another disk may hold it, so that only `measure` can refuse."""
    study = studycheck.check(changed(tmp_path, (MIB, "image_mib: 999999999  #")), "quick")
    assert "--folder" in str(studycheck.too_large(study, "quick"))
    study = studycheck.check(changed(tmp_path, (MIB, "image_mib: 320  #")), "quick")
    assert studycheck.too_large(study, "quick") is None


def test_windows_of_a_workload_that_is_not_told_when_to_end_are_refused(tmp_path: Path) -> None:
    """Else gigabytes of images are made before it is found."""
    windows = ("measure_s: 9, settle_limit_s: 60}", "settle_limit_s: 60}\n    windows: {W}")
    of_windows = (windows[0], windows[1].replace("W", "count: 2, length_s: 9, ready: 2"))
    studycheck.check(changed(tmp_path, of_windows), "quick")
    own = (
        ("[webserver, varmail]", "[webserver, mine]"),
        ("matrices:", "workloads: {mine: {command: [sleep, '9'], size_mib: 1}}\nmatrices:"),
    )
    file = changed(tmp_path, of_windows, *own)
    with pytest.raises(FsgreenError, match="mine cannot take turns") as caught:
        studycheck.check(file, "quick")
    assert caught.value.where == f"{file}:{line_of(file, 'windows:')}"


def test_images_of_all_that_are_ready_must_have_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_windows = (
        "measure_s: 9, settle_limit_s: 60}",
        "settle_limit_s: 60}\n    windows: {count: 2, length_s: 9, ready: 3}",
    )
    study = studycheck.check(changed(tmp_path, of_windows), "quick")
    image_b = study.profiles["quick"].image_b
    free = SimpleNamespace(free=2 * image_b + studycheck.SPARE_B)
    monkeypatch.setattr(studycheck.shutil, "disk_usage", lambda folder: free)
    assert "for each of 3 that are ready at once" in str(studycheck.too_large(study, "quick"))
    assert studycheck.too_large(studycheck.check(changed(tmp_path), "quick"), "quick") is None
