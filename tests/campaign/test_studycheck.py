"""Whether a study can be measured: all that its file can tell, with the line and what would do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from traces import INFO, sampled, whole_budget, whole_energy_j

from fsgreen import cli, paths, trace
from fsgreen.campaign import studycheck
from fsgreen.design import newstudy
from fsgreen.errors import FsgreenError
from fsgreen.meters.core import registry
from fsgreen.meters.modelled import load_profile
from fsgreen.trace import ErrorBudget

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
        (
            ("matrices:  ", "factors:\n  power_w: {owner: workload, kind: count}\nmatrices:  "),
            "power_w:",
            "no factor can be called power_w: this is the name of a column of trials.csv",
        ),
        (
            ("matrices:  ", "metrics: [{name: trend, above: work_ops, unit: p}]\nmatrices:  "),
            "name: trend",
            "the metric trend has a column trend_p, which is one of cells.csv already",
        ),
        (
            ("matrices:  ", "metrics: [{name: load, above: work_ops, unit: ops_s}]\nmatrices:  "),
            "name: load",
            "the metric load has a column load_ops_s, which is one of the factors already",
        ),
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
    windows = ("measure_s: 11, settle_limit_s: 60}", "settle_limit_s: 60}\n    windows: {W}")
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
        "measure_s: 11, settle_limit_s: 60}",
        "settle_limit_s: 60}\n    windows: {count: 2, length_s: 9, ready: 3}",
    )
    study = studycheck.check(changed(tmp_path, of_windows), "quick")
    image_b = study.profiles["quick"].image_b
    free = SimpleNamespace(free=2 * image_b + studycheck.SPARE_B)
    monkeypatch.setattr(studycheck.shutil, "disk_usage", lambda folder: free)
    assert "for each of 3 that are ready at once" in str(studycheck.too_large(study, "quick"))
    assert studycheck.too_large(studycheck.check(changed(tmp_path), "quick"), "quick") is None


def budget_share(
    warmup_s: float, start_s: float, measure_s: float, *, pause_s: tuple[float, float] = (0, 0)
) -> float:
    """What constant and edge errors are of the energy, where work takes all that the models have.

    It rests in a pause of so many seconds after the start. The meters give a reading at each whole
    second, the mean since the one before.
    """
    end_s = start_s + measure_s
    works_s = [(start_s - warmup_s, start_s + pause_s[0]), (start_s + pause_s[1], end_s)]
    total, energy_j = ErrorBudget(0.0, 0.0, 0.0, 0.0), 0.0
    for meter in registry.WITHOUT_METER:
        model = load_profile(str(meter["profile"]))
        peak_w = model.power_w({"cpu_busy_x": 1.0, "disk_busy_x": 1.0})

        def power_w(
            time_s: np.ndarray, idle_w: float = model.idle_w, peak_w: float = peak_w
        ) -> np.ndarray:
            shares = (
                np.clip(np.minimum(time_s, last_s) - np.maximum(time_s - 1, first_s), 0, 1)
                for first_s, last_s in works_s
            )
            return idle_w + (peak_w - idle_w) * sum(shares)

        readings = sampled(power_w, np.arange(0.0, 80.0))
        total += whole_budget(readings, start_s, end_s, INFO)
        energy_j += whole_energy_j(readings, start_s, end_s)
    return trace.constant_edge_share(total, energy_j)


@pytest.mark.parametrize(("warmup_s", "enough_s"), [(0, 10), (1, 10), (2, 9), (5, 9)])
def test_the_length_that_plan_names_keeps_rule_16_and_a_second_less_breaks_it(
    warmup_s: int, enough_s: int, tmp_path: Path
) -> None:
    """Without a warm-up power changes in a step at both edges of what is measured."""
    was = "warmup_s: 2, measure_s: 11"
    for measure_s, told in ((enough_s - 1, True), (enough_s, False)):
        file = changed(tmp_path, (was, f"warmup_s: {warmup_s}, measure_s: {measure_s}"))
        note = studycheck.too_short(studycheck.check(file, "quick"), "quick")
        assert (note is not None) == told
        shares = [budget_share(warmup_s, 30 + late_s, measure_s) for late_s in (0.01, 0.5, 0.99)]
        assert (max(shares) > 0.02) == told
        if note is not None:
            assert f"{enough_s} would do for steady work" in note
            assert ("(9 with warmup_s 2)" in note) == (warmup_s < 2)


def test_the_length_for_any_work_holds_where_power_is_high_at_the_edges_alone() -> None:
    """Its mean is then hardly that of an idle machine, and the edges weigh as much."""
    assert max(budget_share(0, 30 + late_s, 10, pause_s=(2, 8)) for late_s in (0, 0.5)) > 0.02
    assert max(budget_share(0, 30 + late_s, 14, pause_s=(2, 12)) for late_s in (0, 0.5)) < 0.02


def test_windows_and_commands_without_a_warm_up_have_two_edges(tmp_path: Path) -> None:
    of_windows = (
        "measure_s: 11, settle_limit_s: 60}",
        "settle_limit_s: 60}\n    windows: {count: 2, length_s: 9, ready: 2}",
    )
    study = studycheck.check(changed(tmp_path, of_windows), "quick")
    assert "length_s is 9; " in str(studycheck.too_short(study, "quick"))
    assert "10 would do for steady work, and 14 for any" in str(
        studycheck.too_short(study, "quick")
    )
    own = (
        ("[webserver, varmail]", "[webserver, mine]"),
        ("matrices:", "workloads: {mine: {command: [sleep, '9'], size_mib: 1}}\nmatrices:"),
        ("measure_s: 11", "measure_s: 9"),
    )
    study = studycheck.check(changed(tmp_path, *own), "quick")
    assert "10 would do" in str(studycheck.too_short(study, "quick"))


def test_a_bound_below_the_meters_own_error_has_no_length_that_would_do(tmp_path: Path) -> None:
    bound = ("matrices:  ", "bounds: {budget_percent: 0.1}\nmatrices:  ")
    study = studycheck.check(changed(tmp_path, bound), "quick")
    assert "no length would do" in str(studycheck.too_short(study, "quick"))


def told_of(file: Path) -> list[str]:
    """What is wrong with a study, each with its line."""
    with pytest.raises(FsgreenError) as caught:
        studycheck.check(file, "quick")
    head, *lines = caught.value.what.split("\n    ")
    assert lines, head
    assert head == f"not a study, for {len(lines)} reasons:"
    return lines


def test_one_look_tells_mistakes_of_every_kind(tmp_path: Path) -> None:
    """Else each kind comes to light once that before it is mended."""
    file = changed(
        tmp_path,
        ("seed: ", "sead: "),
        ("measure_s: 11", "measure_s: 3s"),
        ("[webserver, varmail]", "[webserver, varmial]"),
        ("[ext2, ext4, xfs]", "[ext2, ext4, xfs, xsf]"),
        ("cache: cold", "cache: tepid"),
        ("scheduler: none", "scheduler: mq-deadlin"),
        (MIB, "image_mib: 1  # size"),
        ("blocks: 5\n    most", "blocks: 4\n    most"),
        ("exclusions:", "comparisons: [{factor: cach}]\nexclusions:"),
    )
    wrong = {
        "unknown key sead, did you mean seed?": "sead:",
        "the key seed is missing": "# What you want",
        "measure_s: takes a number above 0, not '3s'": "3s",
        "unknown workload 'varmial', did you mean varmail?": "varmial",
        "unknown file system 'xsf', did you mean xfs?": "xsf",
        "unknown level of cache 'tepid'": "tepid",
        "unknown scheduler 'mq-deadlin'": "mq-deadlin",
        "image_mib is 1, and xfs with option default takes 300": "image_mib: 1 ",
        "fewer than 5 trials conclude nothing": "    blocks: 4",
        "unknown factor 'cach', did you mean cache?": "cach}",
    }
    lines = told_of(file)
    for what, words in wrong.items():
        at = line_of(file, words)
        assert any(line.startswith(f"line {at}: ") and what in line for line in lines), what
    assert len(lines) == len(wrong)


@pytest.mark.parametrize(
    "change",
    [
        ("    matrices: [all]\n    blocks: 2", "    matrces: [all]\n    blocks: 2"),
        ("  all:\n    workload:", "  all:\n    workload: {}\n    none:"),
        ("  quick:\n    matrices", "  quick:\n    events: [{phase: lunch}]\n    matrices"),
        ("file_system: ext4}   # measured", "file_system: [ext4]}   # measured"),
        ("scale: 0.05 ", "scale: {webserver: none, varmail: 1} "),
        ("- what: file systems but these three", "- wat: [file systems]"),
    ],
)
def test_what_follows_from_another_mistake_is_not_told(
    change: tuple[str, str], tmp_path: Path
) -> None:
    """An unknown key must not have the matrix, the profile or the baseline told as missing."""
    for line in told_of(changed(tmp_path, change, ("seed: ", "sead: "))):
        assert not any(word in line for word in ("unknown matrix", "unknown profile", "leaves out"))
        assert "has no scale" not in line


def test_a_profile_that_lacks_its_length_hides_nothing(tmp_path: Path) -> None:
    file = changed(
        tmp_path, ("measure_s: 11, ", ""), (MIB, "image_mib: 1  # size"), ("seed: ", "sead: ")
    )
    lines = told_of(file)
    assert any("phases lacks measure_s" in line for line in lines)
    assert any("image_mib is 1" in line for line in lines)


def test_a_matrix_without_a_workload_and_a_label_that_is_none_are_told(tmp_path: Path) -> None:
    own = (
        "factors: {depth: {owner: workload, label: 'd{:q}'}}\nmatrices:\n  odd: {cache: [cold]}\n#"
    )
    lines = told_of(changed(tmp_path, ("matrices:  ", own)))
    assert any("the matrix odd has no workload" in line for line in lines)
    assert any("no level can be filled in" in line for line in lines)


def test_the_claims_of_a_study_are_checked_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else they are found to be wrong once all is measured."""
    (tmp_path / "studies" / "mine").mkdir(parents=True)
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    file = changed(tmp_path / "studies", ("varmail]", "varmial]"))
    (tmp_path / "studies" / "mine" / "claims.yaml").write_text(
        "faster: {statement: xfs is faster, ratio: [{of: [{file_system: xsf}], at_leest: 1}]}\n"
        "unsaid: {ratio: [{of: [{file_sytem: xfs}], at_least: 1, where: {workload: varmail}}]}\n"
    )
    assert cli.main(["plan", "mine"]) == 1
    told = capsys.readouterr().err
    for what in ("'varmial'", "did you mean at_least?", "unsaid takes a `statement`", "file_sytem"):
        assert what in told
    assert f"{file}:" in told and "claims.yaml:1" in told
    file.write_text(newstudy.text("mine"))
    assert cli.main(["plan", "mine"]) == 1
    assert "did you mean at_least?" in capsys.readouterr().err
