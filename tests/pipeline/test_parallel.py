"""Campaigns side by side: what runs, what stops, and what stays."""

import os
import signal
import threading
from collections.abc import Iterable
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import parallel, project
from fsgreen.pipeline.ledger import Ledger
from tests.patience import wait_for


class Recorded:
    """Stages by campaign, of which some are out of date; it keeps what is recorded."""

    def __init__(self, stale: Iterable[str], **campaigns: dict[str, str]) -> None:
        self.campaigns, self.stale = campaigns, set(stale)
        self.cleared: list[str] = []
        self.recorded: list[str] = []

    def out_of_date(self, stages: Iterable[str]) -> dict[str, Any]:
        return {stage: ["changed"] for stage in stages if stage in self.stale}

    def clear(self, stage: str) -> None:
        self.cleared.append(stage)

    def record(self, stage: str) -> None:
        self.recorded.append(stage)


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package is imported ahead, as these stages use none."""
    monkeypatch.setattr(parallel, "modules", lambda: [])
    monkeypatch.setattr(parallel, "LATE", ())
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


def run(ledger: Recorded) -> None:
    parallel.Run(ledger, ledger.campaigns).all()  # type: ignore[arg-type]


def python(code: str) -> str:
    """The command of a stage that runs this code."""
    return f'ipython --no-banner --quick -c "{code}"'


def test_only_what_is_out_of_date_runs_in_its_order(tmp_path: Path, capfd: Any) -> None:
    log = tmp_path / "log"
    stages = {f"{name}@c": python(f"open('{log}', 'a').write('{name} ')") for name in "abd"}
    ledger = Recorded(["a@c", "d@c"], c=stages)
    run(ledger)
    assert log.read_text() == "a d "
    assert ledger.cleared == ledger.recorded == ["a@c", "d@c"]
    assert "[3/3] d@c runs" in capfd.readouterr().out


def test_the_time_to_go_is_told_once_stages_enough_have_run(capfd: Any) -> None:
    """By the first, longest stage it was 26 minutes of nine."""
    stages = {f"{name}@c": python("1") for name in "abcdefg"}
    run(Recorded(stages, c=stages))
    told = [line for line in capfd.readouterr().out.splitlines() if " runs" in line]
    assert ["to go" in line for line in told] == [False] * parallel.FEWEST_RAN + [True] * 2


def test_a_stage_that_fails_is_named_and_not_recorded() -> None:
    stages = {"a@c": "fsgreen notebook 99_none", "b@c": python("1")}
    ledger = Recorded(stages, c=stages)
    with pytest.raises(FsgreenError, match=r"stopped at a@c(.|\n)*\./run reproduce"):
        run(ledger)
    assert ledger.recorded == []


@pytest.mark.parametrize(
    ("code", "how", "next_step"),
    [
        ("import os; os._exit(3)", "ended with status 3", "mend that, then"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL", "too much memory"),
    ],
)
def test_a_stage_that_ends_in_silence_says_how_its_process_ended(
    code: str, how: str, next_step: str
) -> None:
    """Its user would have a name, and nothing to begin with."""
    ledger = Recorded(["a@c"], c={"a@c": python(code)})
    with pytest.raises(FsgreenError, match=rf"stopped at a@c: its process {how}") as told:
        run(ledger)
    assert next_step in str(told.value.next_step) and "./run reproduce" in str(told.value.next_step)


def test_stages_whose_forker_ended_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that runs sees it end; one that starts meets it before it can be waited for."""
    ledger = Recorded(["a@c"], c={"a@c": python("import os; os.kill(os.getppid(), 9)")})
    with pytest.raises(FsgreenError, match=r"stopped at a@c: its process was lost") as told:
        run(ledger)
    assert "./run reproduce goes on from there" in str(told.value.next_step)
    ended = forkserver._forkserver  # type: ignore[attr-defined]
    server_pid = ended._forkserver_pid  # type: ignore[attr-defined]
    os.waitid(os.P_PID, server_pid, os.WEXITED | os.WNOWAIT)
    with monkeypatch.context() as unaware:
        unaware.setattr(ended, "ensure_running", lambda: None)
        with pytest.raises(FsgreenError, match=r"stopped at a@c: its process was lost"):
            run(ledger)


def test_nothing_of_a_stopped_pipeline_goes_on(tmp_path: Path) -> None:
    """A second start would meet half-made results that still change."""
    wait = "import os, time; open('{}', 'w').write(str(os.getpid())); time.sleep(600)"
    campaigns = {name: {f"a@{name}": python(wait.format(tmp_path / name))} for name in "cd"}
    ledger = Recorded(["a@c", "a@d"], **campaigns)
    started = min(2, len(os.sched_getaffinity(0)))

    def stop() -> None:
        wait_for(lambda: sum(bool(file.read_text()) for file in tmp_path.iterdir()) >= started)
        os.kill(os.getpid(), signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        run(ledger)
    stopper.join()
    for file in tmp_path.iterdir():
        wait_for(lambda file=file: not Path("/proc", file.read_text()).exists())
    assert ledger.recorded == []


def test_a_second_run_beside_the_first_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both would write the same results."""
    project.write(tmp_path / "mine")
    monkeypatch.setattr(paths, "root", lambda: tmp_path / "mine")
    with (
        Ledger.opened(wait=True),
        pytest.raises(FsgreenError, match=r"another ./run reproduce(.|\n)*wait"),
        Ledger.opened(),
    ):
        raise AssertionError("both hold it")


def test_stages_that_are_current_run_if_they_are_to_run_again() -> None:
    stages = {"a@c": python("1"), "b@c": python("1")}
    ledger = Recorded([], c=stages)
    parallel.Run(ledger, ledger.campaigns, again=True).all()  # type: ignore[arg-type]
    assert ledger.recorded == ["a@c", "b@c"]


def test_a_stage_has_the_cores_that_no_other_campaign_uses(tmp_path: Path) -> None:
    """One campaign of many trials alone would leave all cores but one idle."""
    code = "from fsgreen import executors; open('{}', 'w').write(repr(executors._entered.get()))"
    campaigns = {name: {f"a@{name}": python(code.format(tmp_path / name))} for name in "cd"}
    ledger = Recorded(["a@c", "a@d"], **campaigns)
    parallel.Run(ledger, ledger.campaigns, jobs=6).all()  # type: ignore[arg-type]
    assert [file.read_text() for file in tmp_path.iterdir()] == ["Processes(jobs=3)"] * 2
