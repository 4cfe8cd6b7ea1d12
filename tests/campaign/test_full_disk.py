"""A disk that is full costs a trial; it stops the campaign only where nothing more can be kept."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loops import need

from fsgreen import campaign, design, testbeds, trial
from fsgreen.campaign import drive, fitting
from fsgreen.errors import FsgreenError
from fsgreen.trial import HarnessCost
from fsgreen.workloads import Outcome
from fsgreen.workloads.base import refuse_full
from tests.patience import TRIES

pytestmark = [pytest.mark.slow, pytest.mark.loop]

SMALL_MIB = 512


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Yield the mount point of a small file system."""
    if os.geteuid():
        pytest.skip("mounting a small file system needs root: run it as root")
    need("ext4")
    image, point = tmp_path / "small.img", tmp_path / "small"
    point.mkdir()
    image.touch()
    os.truncate(image, SMALL_MIB << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, point], check=True)
    (point / "work").mkdir()
    yield point
    gc.collect()  # pyarrow leaves a file open whose end it could not write
    subprocess.run(["umount", point], check=True)


@pytest.fixture
def bed(small: Path) -> Iterator[testbeds.Testbed]:
    """Yield the testbed `directory` on the small file system."""
    with testbeds.open_testbed("directory", folder=small / "work", size_b=2**20) as opened:
        yield opened


def fill(folder: Path) -> None:
    """Allocate until there is no room for another block."""
    for size_b in (64 << 20, 1 << 20, 4096):
        for nth in range(256):
            with (folder / f"fill-{size_b}-{nth}").open("wb") as file:
                try:
                    os.posix_fallocate(file.fileno(), 0, size_b)
                except OSError as error:
                    assert error.errno == errno.ENOSPC
                    break


Act = Callable[[Path], bool]
"""What a workload does in its directory; whether operations of it failed for want of room."""


def nothing(directory: Path) -> bool:
    return False


@pytest.fixture
def measured(
    bed: testbeds.Testbed,
    plan: design.Plan,
    behave: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., None]:
    """Return a function that measures; the workload of the first trial acts as it is told."""
    monkeypatch.setattr(HarnessCost, "LIMIT_PERCENT", 50)  # of a trial this short
    monkeypatch.setattr(drive, "ATTEMPTS", 1)
    monkeypatch.setattr(drive, "COPIES", TRIES)
    first, scripted = plan.trials[0].cell["workload"], fitting.load_workload

    def measure(begin: Act = nothing, prepare: Callable[..., Any] | None = None) -> None:
        def load(name: str, *_: object) -> Any:
            workload: Any = scripted(name, 1.0, {}, {})
            run = workload.run

            def begun(directory: Path, *given: Any) -> Outcome:
                failed = begin(directory)
                outcome = run(directory, *given)
                if failed:
                    refuse_full(replace(outcome.summary, errors={"ENOSPC": 3}), name, directory)
                return outcome

            if name == first:
                workload.run, workload.prepare = begun, prepare or workload.prepare
            return workload

        monkeypatch.setattr(fitting, "load_workload", load)
        campaign.run(plan, "demo", testbed=bed)

    return measure


@contextmanager
def refused(names: list[str]) -> Iterator[None]:
    """Expect a campaign to end because trials of these names, at least, do not count."""
    with pytest.raises(FsgreenError, match="broke a rule") as caught:
        yield
    assert all(name in caught.value.what for name in names)


def fill_directory(directory: Path) -> bool:
    fill(directory)
    return True


@pytest.mark.parametrize("together", [False, True], ids=["traces elsewhere", "traces beside it"])
def test_a_file_system_that_fills_costs_its_trial_and_not_the_campaign(
    together: bool,
    small: Path,
    tmp_path: Path,
    plan: design.Plan,
    measured: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The room comes back with the end of the trial, also for its record."""
    monkeypatch.setenv("FSGREEN_DATA", str((small if together else tmp_path) / "data"))
    full, other = (planned.trial for planned in plan.trials)
    folder = campaign.Campaign("demo").folder
    for _ in range(TRIES):
        with refused([full]):
            measured(fill_directory)
        if trial.list_trials(folder):
            break
    assert [found.name for found in trial.list_trials(folder)] == [other]
    reasons = [found.record.reason for found in trial.list_invalid(folder) if found.name == full]
    assert reasons and all("full" in str(why) or "No space" in str(why) for why in reasons)
    if not together:
        assert all("smaller scale" in str(why) for why in reasons)


def test_where_nothing_more_can_be_kept_the_campaign_ends_and_goes_on_once_there_is_room(
    small: Path,
    plan: design.Plan,
    measured: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(small / "data"))
    others = small / "of-somebody-else"
    others.mkdir()

    def fill_beside(directory: Path) -> bool:
        fill(others)
        return False

    with pytest.raises(trial.DiskFull, match="the trials so far are whole") as caught:
        measured(fill_beside)
    assert "start the same command again" in str(caught.value.next_step)
    folder = campaign.Campaign("demo").folder
    assert [*(folder / "trials").iterdir()] == []
    for file in others.iterdir():
        file.unlink()
    for _ in range(TRIES):
        try:
            measured()
            break
        except FsgreenError as error:
            assert "broke a rule" in error.what  # a busy machine
    assert sorted(found.name for found in trial.list_trials(folder)) == sorted(
        planned.trial for planned in plan.trials
    )


def test_files_that_have_no_room_cost_their_trial_and_not_the_campaign(
    tmp_path: Path,
    small: Path,
    plan: design.Plan,
    measured: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))

    def no_room(directory: Path, seed: int) -> None:
        raise FsgreenError("no space for 10 MiB", next_step="choose a smaller scale")

    full, other = (planned.trial for planned in plan.trials)
    folder = campaign.Campaign("demo").folder
    for _ in range(TRIES):
        with refused([full]):
            measured(prepare=no_room)
        if trial.list_trials(folder):
            break
    assert [found.name for found in trial.list_trials(folder)] == [other]
    reasons = {found.record.reason for found in trial.list_invalid(folder) if found.name == full}
    assert reasons == {"no space for 10 MiB; choose a smaller scale"}
