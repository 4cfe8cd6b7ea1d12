"""The queue of a disk: what is said where the kernel lacks a scheduler."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsgreen.devices.queue import Queue
from fsgreen.errors import FsgreenError


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("kyber", "modprobe kyber-iosched"),
        ("elevator", "take --testbed simdisk"),
        ("n-cscan", "take --testbed simdisk"),
    ],
)
def test_the_next_step_for_a_missing_scheduler_is_one_that_can_work(
    tmp_path: Path, name: str, remedy: str
) -> None:
    """No module has a scheduler that only the simulator knows."""
    (tmp_path / "scheduler").write_text("[none] mq-deadline\n")
    queue = Queue("loop0")
    queue.folder = tmp_path
    queue.check_scheduler("mq-deadline")
    with pytest.raises(FsgreenError, match=f"unknown scheduler '{name}'") as caught:
        queue.check_scheduler(name)
    assert remedy in (caught.value.next_step or "")
