"""A second campaign does not measure beside a running one, whatever it is called."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from fsgreen.campaign.machine import machine_alone

HOLDER = """
import time
from fsgreen.campaign.machine import machine_alone
with machine_alone(), machine_alone():
    print("measures", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A process that measures, on a machine of its own."""
    monkeypatch.setenv("FSGREEN_MACHINE", f"held-{os.getpid()}")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "measures\n"
        yield process
        process.kill()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_second_campaign_waits_until_the_first_has_ended(
    holder: subprocess.Popen[str],
    how: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    polls = []

    def poll(length_s: float) -> None:
        polls.append(length_s)
        if len(polls) == 3:
            holder.send_signal(how)
            holder.wait()

    monkeypatch.setattr(time, "sleep", poll)
    with machine_alone():
        assert holder.returncode == -how
        assert len(polls) >= 3
    assert capsys.readouterr().out.count("another campaign measures on this machine") == 1


def test_a_campaign_that_stops_waiting_leaves_the_other_alone(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ctrl_c(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", ctrl_c)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), machine_alone():
            raise AssertionError("measured beside another")
    assert holder.poll() is None
