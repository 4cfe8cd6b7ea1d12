"""RocksDB in a guest, from its study to its trials: its memory, and a disk that fills."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import levels
from vms import DISK_B, EMULATED, need_guest, nightly

from fsgreen import campaign, commands, paths, trial
from fsgreen.campaign import testbedfile
from fsgreen.devices.vm import image
from fsgreen.errors import FsgreenError
from fsgreen.stacks.guest.stack import GuestStack
from fsgreen.testbeds import Mount, open_testbed
from fsgreen.workloads import WorkloadFailed, bounds, load_workload, process
from fsgreen.workloads.bounds import Bounds

FOLDER = "/usr/lib/x86_64-linux-gnu"
LIBRARY = f"{FOLDER}/librocksdb.so.7.8.3"

TAKE_AWAY = f"""set -e
modprobe overlay
mkdir -p /run/over/upper /run/over/work
mount -t overlay -o lowerdir={FOLDER},upperdir=/run/over/upper,workdir=/run/over/work none {FOLDER}
rm {FOLDER}/librocksdb.*"""

LACKS = (
    (TAKE_AWAY, FOLDER, "RocksDB is not installed"),
    (f"mount --bind /lib/x86_64-linux-gnu/libc.so.6 {LIBRARY}", LIBRARY, "another version"),
    (f"mount --bind /bin/true {LIBRARY}", LIBRARY, "cannot be used"),
)
"""What makes a guest unable to use RocksDB, what is unmounted afterwards, and what is said."""

STUDY = """\
study: databases
title: A database on file systems of a guest
question: Does it work?
seed: 3
baseline: {workload: rocksdb, file_system: ext4, option: noatime, mix: a}
factors:
  mix: {owner: workload, kind: name, meaning: "a core workload of YCSB, from a to f"}
workloads:
  rocksdb:
    driver: fsgreen.workloads.ycsb:Ycsb
    options: {records: 800000, record_b: 4096}
constants: {scheduler: none, cache: cold, device: initial, memory_mib: 3200}
bounds: {budget_percent: 100, others_percent: 1000, idle_band_percent: 1000}
matrices:
  all: {workload: [rocksdb], file_system: [ext4, f2fs], option: [noatime], mix: [a]}
profiles:
  quick:
    matrices: [all]
    blocks: 1
    phases: {idle_s: 0.4, warmup_s: 0.1, measure_s: 2, settle_limit_s: 30}
    scale: {rocksdb: 0.01}
    image_mib: 256
"""

FILL = 'cat /dev/zero > "$0"; truncate --size=-6M "$0"'
"""Fills a disk but for a little, which RocksDB takes while it merges."""


@pytest.fixture
def full_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk of the first trial be full before its cache is emptied."""
    remount, fills = GuestStack.remount, [FILL]

    def filled(self: GuestStack) -> Mount:
        mount = remount(self)
        if fills:
            command = ["sh", "-c", fills.pop(), f"{mount.directory}/fill"]
            self._device.ask("run", command=command)
            mount = remount(self)
        return mount

    monkeypatch.setattr(GuestStack, "remount", filled)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    need_guest()
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "new_study", lambda name: tmp_path / f"{name}.yaml")
    (tmp_path / "databases.yaml").write_text(STUDY)
    yield "databases"


@nightly
@pytest.mark.usefixtures("full_once")
def test_a_database_is_measured_in_a_guest_and_goes_on_after_a_disk_that_filled(study: str) -> None:
    """Each has the memory of its level: claims on databases are about those that exceed it."""
    place = testbedfile.TestbedFile(kind="vm", in_memory=True, clock=EMULATED.clock)
    made = campaign.measure(study, "quick", place=place)
    trials = trial.list_trials(made.folder)
    assert {one.record.cell["file_system"] for one in trials} == {"ext4", "f2fs"}
    for one in trials:
        record = one.record
        assert record.mount["guest"]["clock"] == "tcg"
        assert record.work.work_ops > 0 and ", RocksDB 7.8" in (record.work.engine or "")
        assert record.memory is not None
        assert 0 < record.memory.peak_b <= record.memory.limit_b == 32 << 20
        assert record.files_b == 8000 * 4096
    [full] = trial.list_invalid(made.folder)
    assert re.search("(No space|SIGABRT: ).*choose a smaller scale", full.record.reason or "")


@nightly
def test_a_program_of_the_guest_keeps_no_more_of_a_file_than_its_memory_holds() -> None:
    """A database that memory holds whole is read from no disk."""
    need_guest()
    with open_testbed("vm", in_memory=True, size_b=DISK_B, guest=EMULATED) as bed:
        mount = bed.prepare(levels("f2fs"))
        with bed.entered():
            commands.run(["dd", "if=/dev/zero", f"of={mount.directory}/file", "bs=1M", "count=32"])
        mount = bed.remount()
        with bed.entered(), bounds.bounded(Bounds(8 << 20)) as bound:
            assert process.run(["md5sum", f"{mount.directory}/file"]).status == 0
    assert bound.memory is not None
    assert 4 << 20 < bound.memory.peak_b <= bound.memory.limit_b == 8 << 20
    assert bound.memory.reached_count > 0


@nightly
def test_a_guest_without_rocksdb_says_that_its_image_is_to_be_made_anew() -> None:
    """What this machine has installed does not help."""
    need_guest()
    options = {"driver": "fsgreen.workloads.ycsb:Ycsb", "options": {"records": 100}}
    workload = load_workload("db", 1.0, {"mix": "a"}, {"db": options})
    with open_testbed("vm", in_memory=True, size_b=DISK_B, guest=EMULATED) as bed:
        bed.prepare(levels("ext4"))
        with bed.entered():
            workload.check()
        for lacking, mounted, said in LACKS:
            with bed.entered():
                commands.run(["sh", "-c", lacking])
            with pytest.raises(FsgreenError, match=said) as told, bed.entered():
                workload.check()
            assert not isinstance(told.value, WorkloadFailed), "it fails in every trial"
            assert str(told.value.next_step).startswith(f"rm -r {image.folder()}")
            with bed.entered():
                commands.run(["umount", "--lazy", mounted])
                workload.check()
