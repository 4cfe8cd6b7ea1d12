"""What a guest takes is not taken for the work of others, and others are still seen."""

import itertools
import threading
import time

import numpy as np
import pandas as pd
import pytest

from fsgreen.campaign import checks
from fsgreen.campaign.guesttime import GuestTime
from fsgreen.trial import Phase

CORES = 2
MEASURE = Phase("measure", 3.3, 8.3)


def of_guest(time_s: float) -> float:
    """Half idle while the workload starts, busy on both cores until it ends, idle afterwards."""
    return float(np.interp(time_s, [0, 3, 8.4, 20], [0, 0.5, 11.3, 11.3]))


@pytest.mark.parametrize("others_percent", [0, 3, 20])
def test_what_others_took_is_told_however_the_guest_spends_its_time(
    others_percent: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = GuestTime(lambda: (of_guest(time.monotonic()), 0.0))
    for at_s in np.arange(0, 10, 0.1):
        monkeypatch.setattr(time, "monotonic", lambda at_s=at_s: at_s)
        guest._read()
    host_s = np.arange(0.2, 10, 1)
    others_s = others_percent / 100 * CORES * host_s
    user_s = np.array([of_guest(at_s) for at_s in host_s]) + others_s
    host = pd.DataFrame({"time_s": host_s, "cpu_user_s": user_s, "cpu_steal_s": 0.0})
    spent_s = guest.user_s(host_s, [MEASURE])
    assert spent_s is not None
    said = checks.check_others(host, [MEASURE], spent_s, CORES, 5)
    assert said.detail == f"others took {others_percent:.1f} % of all cores"


def test_a_guest_is_read_while_its_work_runs() -> None:
    """Its time before and after the work would not tell the measured interval from the rest."""
    spent, was_read = itertools.count(), threading.Semaphore(0)

    def processor_s() -> tuple[float, float]:
        was_read.release()
        return float(next(spent)), 0.0

    guest = GuestTime(processor_s)
    with guest.watched():
        for _ in range(3):  # the first is from before the work
            was_read.acquire()
    reads = next(spent)
    assert reads >= 4
    whole = Phase("measure", 0.0, 1e12)
    assert guest.user_s(np.array(whole.span_s), [whole]) == reads - 1


def test_where_no_guest_runs_the_workload_nothing_is_said_of_one() -> None:
    guest = GuestTime(lambda: None)
    with guest.watched():
        pass
    assert guest.user_s(np.array([0.0, 10.0]), [MEASURE]) is None
