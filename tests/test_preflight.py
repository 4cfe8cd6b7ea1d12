"""The doctor must be right about this machine."""

from __future__ import annotations

from pathlib import Path

import machines
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen import host, preflight
from fsgreen.preflight import clocks, load, settings


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "SAMPLE_S", 0.01)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> host.Tree:
    """A laptop that nobody has calmed; its programs come first in PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    files = {
        "proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\n"
        "Dirty: 200000 kB\nWriteback: 0 kB",
        "proc/pressure/memory": "some avg10=0.00 avg60=12.50 avg300=0.00 total=1",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet",
        "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm",
        "sys/class/power_supply/BAT0/type": "Battery",
        "sys/class/power_supply/BAT0/status": "Discharging",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
    }
    made = machines.make(tmp_path)
    for name, text in files.items():
        machines.write(tmp_path, name, text)
    return made


def row(subject: str, tree: host.Tree) -> preflight.Finding:
    (found,) = [one for one in preflight.check(tree=tree) if one.subject == subject]
    return found


def test_findings_are_ordered_by_severity_and_faults_have_remedies() -> None:
    findings = preflight.check()
    order = ["blocks", "warning", "note", "ok"]
    ranks = [order.index(finding.severity) for finding in findings]
    assert ranks == sorted(ranks)
    assert all(finding.remedy for finding in findings if finding.severity in ("blocks", "warning"))


@pytest.mark.parametrize(
    ("subject", "state", "severity", "remedy"),
    [
        ("CPU governor", "4 x powersave", "warning", "fsgreen host apply governor"),
        ("turbo", "on", "warning", "fsgreen host apply turbo"),
        ("SMT", "on", "note", "fsgreen host apply smt"),
        ("swap", "on: /dev/sda2, /swapfile", "warning", "fsgreen host apply swap"),
        ("read-ahead of sda", "4096 KiB", "note", "fsgreen host apply read-ahead --disk sda"),
        ("apm of sda", "128", "warning", "fsgreen host apply apm --disk sda"),
        ("scheduler of sda", "mq-deadline", "ok", ""),
        ("unwritten data", "195 MiB on their way to the disks", "warning", "sync"),
        ("power supply", "on battery", "warning", "plug in the mains adapter"),
        ("clocksource", "hpet", "warning", "echo tsc | sudo tee /sys/devices/system/clocksource"),
        ("huge pages", "always", "note", "echo madvise | sudo tee /sys/kernel/mm"),
        ("memory", "5.7 of 7.6 GiB available", "warning", "end what takes it"),
        ("timers", "2 are running; b.t begins in", "note", "fsgreen host apply timers"),
    ],
)
def test_a_machine_that_nobody_calmed_is_told_so_with_the_command(
    tree: host.Tree, subject: str, state: str, severity: str, remedy: str
) -> None:
    found = row(subject, tree)
    assert found.state.startswith(state)
    assert found.severity == severity
    assert found.remedy.startswith(remedy) and bool(found.remedy) == bool(remedy)


def test_the_remedies_of_the_table_make_its_warnings_go_away(tree: host.Tree) -> None:
    for name in ("governor", "turbo", "swap", "timers", "smt"):
        host.apply([name], tree=tree)
    host.apply(["read-ahead", "apm"], disks=["sda"], tree=tree)
    for subject in ("CPU governor", "turbo", "SMT", "swap", "timers", "apm of sda"):
        assert row(subject, tree).severity == "ok", subject
    waiting = [one for one in preflight.check(tree=tree) if one.subject == "host settings"]
    assert len(waiting) == 6
    assert {(one.severity, one.remedy) for one in waiting} == {("note", "fsgreen host restore")}


def test_what_a_run_left_behind_is_a_warning(tree: host.Tree) -> None:
    host.apply(["governor"], tree=tree)
    machines.write(tree.root, "proc/sys/kernel/random/boot_id", "another")
    found = row("host settings", tree)
    assert (found.severity, found.remedy) == ("warning", "fsgreen host restore")
    assert "before the machine was booted" in found.state


def test_a_machine_that_tells_nothing_is_noted_and_never_guessed_at(tmp_path: Path) -> None:
    findings = {one.subject: one for one in settings.check(host.Tree(tmp_path))}
    for subject in ("CPU governor", "turbo", "SMT", "swap"):
        assert findings[subject].severity == "note"
        assert "not here" in findings[subject].state
    for one in (*load.check(host.Tree(tmp_path)), clocks._clocksource(host.Tree(tmp_path))):
        assert (one.severity, one.state) == ("note", "not readable")


@pytest.mark.parametrize(
    ("in_s", "severity"), [(60.0, "warning"), (-5.0, "warning"), (90000.0, "note"), (None, "note")]
)
def test_a_timer_matters_when_it_elapses_soon(
    tree: host.Tree, monkeypatch: pytest.MonkeyPatch, in_s: float | None, severity: str
) -> None:
    following = None if in_s is None else ("apt-daily.timer", in_s)
    monkeypatch.setattr(settings.timers, "next_elapse", lambda: following)
    found = row("timers", tree)
    assert found.severity == severity
    assert ("cannot be read" in found.state) == (in_s is None)


def test_cron_is_seen_where_systemd_is_not(tree: host.Tree) -> None:
    tree.path("run/systemd/system/.here").unlink()
    tree.path("run/systemd/system").rmdir()
    assert row("timers", tree).severity == "ok"
    machines.write(tree.root, "proc/77/comm", "cron")
    found = row("timers", tree)
    assert (found.severity, found.state) == ("warning", "cron may start jobs")
    tree.path("proc/77/comm").unlink()
    machines.write(tree.root, ".dockerenv", "")
    assert row("timers", tree).state == "timers of the host cannot be seen (docker)"


@pytest.mark.parametrize(
    ("before", "after", "busy_percent", "steal_percent"),
    [
        ("cpu  0 0 0 0 0 0 0 0 0 0", "cpu  10 0 10 70 5 0 0 5 0 0", 25.0, 5.0),
        ("cpu  5 5 5 5 5 5 5 5", "cpu  5 5 5 105 5 5 5 5", 0.0, 0.0),
    ],
)
def test_busy_and_stolen_time_are_shares_of_all_cores(
    before: str, after: str, busy_percent: float, steal_percent: float
) -> None:
    found = load.shares(before, after)
    assert found == pytest.approx((busy_percent, steal_percent))


@given(st.text(), st.text())
def test_no_text_breaks_the_shares(before: str, after: str) -> None:
    assert load.shares(before, after) is None
    assert load.shares(f"cpu 1 2 3 4 5 6 7 8\n{before}", after) is None


@pytest.mark.parametrize(
    ("shares", "busy", "steal"),
    [((1.0, 0.2), "ok", "ok"), ((40.0, 0.2), "warning", "ok"), ((40.0, 3.0), "warning", "warning")],
)
def test_a_busy_machine_is_a_warning_and_a_calm_one_is_not(
    monkeypatch: pytest.MonkeyPatch, shares: tuple[float, float], busy: str, steal: str
) -> None:
    monkeypatch.setattr(load, "sample", lambda _: load.Shares(*shares))
    assert row("CPU", host.HERE).severity == busy
    assert row("steal time", host.HERE).severity == steal


@pytest.mark.parametrize(
    ("kernel_says", "severity"),
    [
        (clocks.Synchronisation(True, 0.02), "ok"),
        (clocks.Synchronisation(False, 16.0), "warning"),
        (None, "note"),
    ],
)
def test_a_clock_that_nobody_sets_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
    kernel_says: clocks.Synchronisation | None,
    severity: str,
) -> None:
    monkeypatch.setattr(clocks, "synchronisation", lambda: kernel_says)
    assert row("clock", host.HERE).severity == severity


def test_the_kernel_answers_about_its_clock() -> None:
    found = clocks.synchronisation()
    assert found is not None
    assert found.maximum_error_s >= 0


def test_a_mouse_is_no_battery_of_the_machine(tree: host.Tree) -> None:
    machines.write(tree.root, "sys/class/power_supply/BAT0/scope", "Device")
    assert row("power supply", tree).state == "no battery"


@pytest.mark.parametrize(
    ("status", "severity"), [("Charging", "warning"), ("Full", "ok"), ("Not charging", "ok")]
)
def test_a_battery_that_takes_power_is_a_warning(
    tree: host.Tree, status: str, severity: str
) -> None:
    machines.write(tree.root, "sys/class/power_supply/BAT0/status", status)
    assert row("power supply", tree).severity == severity
