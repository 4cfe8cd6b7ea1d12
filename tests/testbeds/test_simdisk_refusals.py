"""What a simulated disk cannot be is refused before anything is measured, with a next step."""

from __future__ import annotations

import os

import pytest
from loops import levels
from served import IDE, needs_disk

from fsgreen import paths
from fsgreen.devices.queue import Queue
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Disk, Testbed, available, open_testbed


@needs_disk
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"disk": "wd200b"}, "no built-in profile wd200b"),
        ({"scheduler": "elevato"}, "elevato"),
        ({"scheduler": "fifo"}, "name none in the study"),
        ({"partition": 5}, "the partitions 1 to 4, not 5"),
        ({"queue_depth": 0}, "one command at least, not 0"),
        ({"device": "age"}, "did you mean aged"),
        ({"nvme_power_state": 1}, "which only a real NVMe drive can have"),
    ],
)
def test_what_the_disk_cannot_be_is_refused(
    bed: Testbed, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(FsgreenError) as caught:
        bed.check(levels("ext4", **asked))
    assert message in f"{caught.value}"


@needs_disk
def test_a_scheduler_whose_module_is_missing_is_not_replaced_by_a_model_of_it(
    bed: Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bfq would mean the kernel's on one machine, and the simulator's on the next."""
    bed.load({})
    monkeypatch.setattr(Queue, "schedulers", lambda _: ["none", "mq-deadline"])
    with pytest.raises(FsgreenError, match="unknown scheduler 'bfq'") as caught:
        bed.check(levels("ext4", scheduler="bfq"))
    assert caught.value.next_step == "modprobe bfq-iosched"
    with pytest.raises(FsgreenError, match="unknown scheduler 'bfq'"):
        bed.load({"scheduler": "bfq"})
    bed.check(levels("ext4", scheduler="elevator"))


def test_it_needs_root_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(FsgreenError, match="simdisk needs root") as caught:
        open_testbed("simdisk")
    assert "sudo" in (caught.value.next_step or "")


def test_without_the_engine_the_error_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(paths, "program", lambda name: None)
    with pytest.raises(FsgreenError, match="simulated disk is not installed") as caught:
        open_testbed("simdisk")
    assert caught.value.next_step == "./run engine"
    assert {entry.name: entry.usable for entry in available()}["simdisk"] is False


@pytest.mark.parametrize("kind", ["loop", "directory"])
def test_a_disk_for_another_testbed_is_refused(kind: str) -> None:
    """A campaign on the machine's own disk would be labelled with a simulated one."""
    with pytest.raises(FsgreenError, match="takes no simulated disk"):
        open_testbed(kind, disk=Disk(IDE))
    with pytest.raises(FsgreenError, match="takes no queue_depth"):
        open_testbed(kind, queue_depth=4)
