"""Trials of different machines must not be pooled without anybody noticing."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import audit
from fsgreen.audit import disks, machine, speed


def tree_of(root: Path, files: dict[str, str]) -> audit.Tree:
    """A tree of the kernel's files with these texts."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return audit.Tree(root)


def test_the_audit_of_this_machine_is_plain_data_with_all_checked_keys() -> None:
    found = audit.audit()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(audit.CHECKED) <= found.keys()
    assert found["cores_count"] >= 1
    assert found["memory_b"] > 2**20
    assert found["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_a_machine_without_any_of_the_files_is_audited_as_unknown(tmp_path: Path) -> None:
    found = audit.audit(audit.Tree(tmp_path))
    of_files = ("cpu", "microcode", "memory_b", "governor", "turbo", "smt", "firmware", "product")
    assert {found[key] for key in (*of_files, "virtual_machine", "boot_id")} == {None}
    assert found["disks"] == {}
    assert found["speed_loops_s"] > 0


def test_a_checked_key_that_changed_is_reported_with_both_values() -> None:
    first = audit.audit()
    second = {**first, "governor": "powersave-of-another-day", "load_1min": 99.0}
    assert audit.differences([first, second]) == {
        "governor": [first["governor"], "powersave-of-another-day"]
    }


def test_equal_machines_have_no_differences() -> None:
    first, second = audit.audit(), audit.audit()
    assert first["speed_loops_s"] != second["speed_loops_s"], "two timings that agree to the digit"
    assert audit.differences([first, second]) == {}


def test_a_reboot_is_no_other_machine_and_a_module_of_memory_is() -> None:
    """The kernel's total differs by some pages, or megabytes, from boot to boot."""
    memory_b = 25_276_502_016
    first = {"memory_b": memory_b, "boot_id": "a"}
    again = {"memory_b": memory_b - 5 * 2**20, "boot_id": "b"}
    assert audit.differences([first, again]) == {}
    less = {"memory_b": memory_b - 2**30, "boot_id": "a"}
    assert list(audit.differences([first, again, less])) == ["memory_b"]
    assert list(audit.differences([first, {"memory_b": None}])) == ["memory_b"]


def test_a_key_that_no_record_has_is_no_difference_and_one_that_some_have_is() -> None:
    """Older records lack newer keys: they pool among themselves, not with newer ones."""
    old, new = {"kernel": "Linux 6"}, {"kernel": "Linux 6", "microcode": None}
    assert audit.differences([old, old]) == {}
    assert audit.differences([old, new]) == {"microcode": ["not recorded", None]}


def test_the_value_in_a_nested_key_that_changed_is_named() -> None:
    sda = {"firmware": "A1", "queue_depth": 256}
    first = {"disks": {"sda": sda}}
    second = {"disks": {"sda": {**sda, "firmware": "A2"}, "sdb": {"firmware": "B"}}}
    assert audit.differences([first, second]) == {
        "disks.sda.firmware": ["A1", "A2"],
        "disks.sdb.firmware": ["not recorded", "B"],
    }


def test_a_reboot_that_gives_disks_other_names_is_no_other_machine() -> None:
    """Days of a campaign could not be gone on with."""
    one, other = {"serial": "A", "model": "a"}, {"serial": "B", "model": "b"}
    first = {"disks": {"sda": one, "sdb": other}}
    assert audit.differences([first, {"disks": {"sda": other, "sdb": one}}]) == {}
    newer = {"disks": {"sda": other, "sdb": {**one, "model": "c"}}}
    assert audit.differences([first, newer]) == {"disks.A.model": ["a", "c"]}


@pytest.mark.parametrize(
    ("limit_b", "percent", "limit"), [("0", "20", "20%"), ("33554432", "0", "33554432")]
)
def test_the_limit_of_dirty_pages_is_the_one_that_holds(
    tmp_path: Path, limit_b: str, percent: str, limit: str
) -> None:
    """The kernel shows 0 for the one that does not."""
    files = {"proc/sys/vm/dirty_bytes": limit_b, "proc/sys/vm/dirty_ratio": percent}
    assert machine.dirty_limit(tree_of(tmp_path, files)) == limit


def test_cores_with_different_governors_are_not_taken_for_the_first_one(tmp_path: Path) -> None:
    policy = "sys/devices/system/cpu/cpufreq/policy{}/scaling_governor"
    tree = tree_of(tmp_path, {policy.format(0): "performance", policy.format(4): "powersave"})
    assert machine.governor(tree) == "performance,powersave"


@pytest.mark.parametrize(
    ("switch", "text", "state"),
    [
        ("intel_pstate/no_turbo", "0", "on"),
        ("intel_pstate/no_turbo", "1", "off"),
        ("cpufreq/boost", "1", "on"),
        ("cpufreq/boost", "0", "off"),
    ],
)
def test_turbo_is_read_from_either_switch(
    tmp_path: Path, switch: str, text: str, state: str
) -> None:
    assert machine.turbo(tree_of(tmp_path, {f"sys/devices/system/cpu/{switch}": text})) == state


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"proc/cpuinfo": "flags\t\t: fpu hypervisor"}, "unknown"),
        ({"proc/cpuinfo": "flags\t\t: fpu vme"}, "none"),
        ({"sys/hypervisor/type": "xen"}, "xen"),
        ({"sys/class/dmi/id/sys_vendor": "QEMU"}, "qemu"),
        ({"sys/class/dmi/id/product_name": "VMware Virtual Platform"}, "vmware"),
        (
            {
                f"{machine.CLOCKSOURCES}/available_clocksource": "tsc kvm-clock",
                "proc/cpuinfo": "flags\t\t: hypervisor",
            },
            "kvm",
        ),
        ({"sys/class/dmi/id/sys_vendor": "LENOVO", "proc/cpuinfo": "flags : fpu"}, "none"),
    ],
)
def test_a_hypervisor_is_told_from_bare_hardware(
    tmp_path: Path, files: dict[str, str], name: str
) -> None:
    assert machine.virtual_machine(tree_of(tmp_path, files)) == name


@pytest.mark.parametrize(
    ("file", "text", "kind"),
    [
        (".dockerenv", "", "docker"),
        ("run/.containerenv", "", "podman"),
        ("run/systemd/container", "lxc", "lxc"),
        ("elsewhere", "", "none"),
    ],
)
def test_a_container_is_named(tmp_path: Path, file: str, text: str, kind: str) -> None:
    assert machine.container(tree_of(tmp_path, {file: text})) == kind


def test_a_disk_is_told_with_model_serial_firmware_and_queue(tmp_path: Path) -> None:
    sda = "sys/block/sda"
    tree = tree_of(
        tmp_path,
        {
            f"{sda}/device/model": "ST3500",
            f"{sda}/device/rev": "CC38",
            f"{sda}/device/queue_depth": "31",
            f"{sda}/queue/scheduler": "none [bfq]",
            f"{sda}/queue/nr_requests": "64",
            f"{sda}/queue/read_ahead_kb": "128",
            f"{sda}/queue/rotational": "1",
            "sys/block/loop0/queue/rotational": "0",
        },
    )
    (tmp_path / sda / "device" / "vpd_pg80").write_bytes(b"\0\x80\0\x08  5VMX01")
    assert disks.disks(tree) == {
        "sda": {
            "model": "ST3500",
            "serial": "5VMX01",
            "firmware": "CC38",
            "rotational": True,
            "scheduler": "bfq",
            "queue_depth": 64,
            "device_queue_depth": 31,
            "read_ahead_b": 131072,
            "write_cache": None,
        }
    }


@given(st.binary())
def test_no_serial_page_breaks_the_audit(page: bytes) -> None:
    serial = disks.serial_of_page(page)
    assert serial is None or (serial and page[1] == 0x80)


@given(st.binary())
def test_no_text_of_the_kernel_breaks_the_audit(
    tmp_path_factory: pytest.TempPathFactory, text: bytes
) -> None:
    root = tmp_path_factory.mktemp("kernel")
    for name in ("proc/cpuinfo", "proc/meminfo", "sys/block/sda/queue/scheduler"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
    (root / "sys/block/sda/device").mkdir()
    tree = audit.Tree(root)
    memory_b = machine.meminfo_b(tree, "MemTotal")
    assert memory_b is None or memory_b >= 0
    assert machine.virtual_machine(tree) in (None, "none", "unknown")
    assert list(disks.disks(tree)) == ["sda"]


def test_a_core_at_half_speed_shows_and_one_interruption_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs_s = iter([0.010] * speed.RUNS + [0.020] * speed.RUNS + [0.500] + [0.010] * speed.RUNS)
    monkeypatch.setattr(speed, "_run_s", lambda: next(runs_s))
    full, half, interrupted = (speed.loops_per_s() for _ in range(3))
    assert half == full / 2
    assert interrupted == full
