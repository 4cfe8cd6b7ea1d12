"""Cells name the highest frequency of the processors: set, told, and put back however."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import machines
import pytest

from fsgreen import host
from fsgreen.devices import folders, frequencies
from fsgreen.devices.frequencies import KEPT, Frequencies, put_back
from fsgreen.errors import FsgreenError, TrialFailed

FOUND = {0: 3_600_000, 1: 3_600_000, 2: 2_400_000, 3: 2_000_000}
"""Two fast processors, and two others, of which somebody has slowed down one, in kHz."""

HIGHEST = {0: 3_600_000, 1: 3_600_000, 2: 2_400_000, 3: 2_400_000}


def file_of(policy: int, name: str = "scaling_max_freq") -> str:
    return f"{machines.CPU}/cpufreq/policy{policy}/{name}"


def now(tree: host.Tree) -> dict[int, int | None]:
    return {policy: tree.number(file_of(policy)) for policy in FOUND}


@pytest.fixture
def tree(tmp_path: Path) -> host.Tree:
    """Processors of two kinds."""
    tree = machines.make(tmp_path)
    for policy, found_khz in FOUND.items():
        for name, khz in {
            "scaling_max_freq": found_khz,
            "scaling_min_freq": 800_000,
            "cpuinfo_min_freq": 400_000,
            "cpuinfo_max_freq": HIGHEST[policy],
        }.items():
            machines.write(tree.root, file_of(policy, name), str(khz))
    return tree


def of_cells(tree: host.Tree) -> Frequencies:
    return Frequencies(tree.root, tree)


def test_each_cell_has_its_frequency_and_the_machine_its_own_afterwards(tree: host.Tree) -> None:
    clock = of_cells(tree)
    for level, told in (
        (1_200_000, dict.fromkeys(FOUND, 1_200_000)),
        (3_000_000, {0: 3_000_000, 1: 3_000_000, 2: 2_400_000, 3: 2_400_000}),
        (None, FOUND),
        (800_000, dict.fromkeys(FOUND, 800_000)),
    ):
        levels = {"cpu_max_khz": level}
        clock.check(levels)
        clock.load(levels)
        assert now(tree) == told
        assert clock.now_khz() == max(told.values())
    clock.restore()
    assert now(tree) == FOUND
    assert put_back(tree.root, tree) == []


def test_a_machine_that_no_cell_names_is_left_alone(tree: host.Tree) -> None:
    """Somebody else may change it meanwhile, and would get an old value back."""
    clock = of_cells(tree)
    clock.check({})
    clock.load({})
    machines.write(tree.root, file_of(0), "1000000")
    clock.restore()
    assert clock.now_khz() is None
    assert now(tree) == {**FOUND, 0: 1_000_000}
    assert not tree.path(KEPT).exists()


def test_what_a_killed_harness_has_set_is_put_back(tree: host.Tree) -> None:
    of_cells(tree).load({"cpu_max_khz": 1_200_000})
    done = put_back(tree.root, tree)
    assert "put back the highest frequency, 2000000 kHz, of policy3 of cpufreq" in done
    assert (len(done), now(tree)) == (len(FOUND), FOUND)
    assert put_back(tree.root, tree) == []


HARNESS = """
import sys, time
from functools import partial
from pathlib import Path
from fsgreen import host, testbeds
from fsgreen.devices.frequencies import Frequencies
from fsgreen.testbeds import testbed

testbed.Frequencies = partial(Frequencies, tree=host.Tree(Path(sys.argv[1])))
with testbeds.open_testbed("directory", folder=Path(sys.argv[1]), size_b=1) as bed:
    bed.load({"cpu_max_khz": 1_200_000})
    print("set", flush=True)
    time.sleep(600)
"""


def test_after_a_kill_the_next_sweep_puts_it_back(
    tree: host.Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that the machine does from then on would be slow, and nobody would know why."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(frequencies, "put_back", lambda folder: put_back(folder, tree))
    command = [sys.executable, "-c", HARNESS, str(tree.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) as harness:
        assert harness.stdout is not None and harness.stdout.readline() == b"set\n"
        assert now(tree) == dict.fromkeys(FOUND, 1_200_000)
        harness.send_signal(signal.SIGKILL)
    done = folders.sweep()
    assert now(tree) == FOUND
    assert [line for line in done if "3600000 kHz, of policy0" in line]


@pytest.mark.parametrize("lost", ["boot", "processors"])
def test_a_machine_that_was_booted_or_has_no_frequencies_any_more_is_left_alone(
    tree: host.Tree, lost: str
) -> None:
    of_cells(tree).load({"cpu_max_khz": 1_200_000})
    if lost == "boot":
        machines.write(tree.root, "proc/sys/kernel/random/boot_id", "another")
    else:
        tree.path(f"{machines.CPU}/cpufreq").rename(tree.path("gone"))
    assert put_back(tree.root, tree) == []


def test_what_cannot_be_put_back_is_told_and_kept(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_cells(tree).load({"cpu_max_khz": 1_200_000})
    refused = tree.path(file_of(3))
    written = Path.write_text

    def write(file: Path, text: str) -> int:
        if file == refused:
            raise OSError(16, "Device or resource busy")
        return written(file, text)

    monkeypatch.setattr(Path, "write_text", write)
    with pytest.raises(FsgreenError, match="of policy3 of cpufreq cannot be put back") as caught:
        put_back(tree.root, tree)
    assert f"/{machines.CPU}/cpufreq" in (caught.value.next_step or "")
    assert now(tree) == {**FOUND, 3: 1_200_000}
    assert tree.path(KEPT).is_file(), "the next sweep could not try again"


@pytest.mark.parametrize("text", ["1000000", "", None], ids=["lowered", "unreadable", "off"])
def test_a_frequency_that_another_changed_spoils_the_trial(
    tree: host.Tree, text: str | None
) -> None:
    """It would count for a frequency at which it was not measured."""
    clock = of_cells(tree)
    clock.load({"cpu_max_khz": 1_200_000})
    if text is None:
        tree.path(file_of(2)).unlink()
    else:
        machines.write(tree.root, file_of(2), text)
    with pytest.raises(TrialFailed, match=r"of policy2 is .* although 1200000 kHz were set"):
        clock.now_khz()


@pytest.mark.parametrize(
    ("level", "why"),
    [
        (799_999, "take 800000 to 3600000 kHz"),
        (3_600_001, "take 800000 to 3600000 kHz"),
        (0, "no whole number of kHz"),
        (1.2e6, "no whole number of kHz"),
        ("fast", "no whole number of kHz"),
    ],
)
def test_levels_that_processors_cannot_have_are_refused(
    tree: host.Tree, level: object, why: str
) -> None:
    with pytest.raises(FsgreenError, match=why) as caught:
        of_cells(tree).check({"cpu_max_khz": level})
    assert "docs/ssd.md" in (caught.value.next_step or "")
    assert now(tree) == FOUND


def test_where_the_kernel_controls_no_frequency_the_level_is_refused(tmp_path: Path) -> None:
    """So it is in most virtual machines."""
    with pytest.raises(FsgreenError, match="the kernel controls no frequency here") as caught:
        Frequencies(tmp_path, host.Tree(tmp_path)).check({"cpu_max_khz": 1_200_000})
    assert caught.value.where and caught.value.next_step


def test_where_it_cannot_be_written_the_level_is_refused(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user other than root would be told after mkfs."""
    monkeypatch.setattr(os, "access", lambda file, mode: False)
    with pytest.raises(FsgreenError, match="only root may"):
        of_cells(tree).check({"cpu_max_khz": 1_200_000})


@pytest.mark.parametrize("kept", ["2400000", None], ids=["another value", "an error"])
def test_what_the_kernel_does_not_take_is_told(
    tree: host.Tree, kept: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver may round what it is asked for, and heat may lower it: that trial does not count."""
    written = Path.write_text

    def write(file: Path, text: str) -> int:
        if kept is None and file.name == "scaling_max_freq":
            raise OSError(22, "Invalid argument")
        return written(file, kept if kept and file.name == "scaling_max_freq" else text)

    monkeypatch.setattr(Path, "write_text", write)
    said = "the kernel refused" if kept is None else "is 2400000 although 1200000 kHz were set"
    error = FsgreenError if kept is None else TrialFailed
    with pytest.raises(error, match=said):
        of_cells(tree).load({"cpu_max_khz": 1_200_000})


def test_a_processor_that_is_off_is_told_before_anything_is_made(tree: host.Tree) -> None:
    """Idle power would be measured for a level that no trial can have."""
    machines.write(tree.root, file_of(2), "")
    with pytest.raises(FsgreenError, match="policy2 has no frequency"):
        of_cells(tree).check({"cpu_max_khz": 1_200_000})
