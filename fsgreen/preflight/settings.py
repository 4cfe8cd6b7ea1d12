"""Settings of the machine that a measurement wants otherwise, and what is left to restore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fsgreen import host
from fsgreen.audit import machine
from fsgreen.audit.tree import Tree
from fsgreen.host import timers
from fsgreen.preflight.finding import Finding, Severity

WORSE = (*host.BY_DEFAULT, "apm")
"""Settings that make numbers worse; the others only belong to what is measured."""

SUBJECTS = {"governor": "CPU governor", "smt": "SMT"}
"""Names in the table that differ from what is typed."""

UNITS = {"read-ahead": " KiB"}

SOON_S = 3600.0
"""A timer that elapses within an hour meets the campaign."""

CRON = frozenset({"cron", "crond", "atd", "anacron"})


def check(tree: Tree) -> Iterator[Finding]:
    """Yield a row for each setting, for each disk that has it, and for what is left to restore."""
    rows = host.look(tree=tree)
    for name, setting in host.SETTINGS.items():
        own = [row for row in rows if row.setting == name]
        if name == "timers":
            yield _timers(own, tree)
        elif setting.of_disks:
            for row in own:
                yield _finding([row], f"{name} of {row.target}" if row.target else name)
        else:
            yield _finding(own, SUBJECTS.get(name, name))
    for waiting in host.pending(tree):
        severity: Severity = "note" if waiting.asked_for else "warning"
        yield Finding("host settings", waiting.sentence, severity, "fsgreen host restore")


def _finding(rows: Sequence[host.Row], subject: str) -> Finding:
    first = rows[0]
    unit = UNITS.get(first.setting, "")
    seen = Counter(f"{row.now}{unit}" for row in rows if row.now is not None)
    if not seen:
        return Finding(subject, f"not here: {first.obstacle}", "note")
    state = (
        ", ".join(seen) if len(rows) == 1 else ", ".join(f"{n} x {now}" for now, n in seen.items())
    )
    if all(row.wanted in (None, row.now) for row in rows):
        return Finding(subject, state, "ok")
    severity: Severity = "warning" if first.setting in WORSE else "note"
    if first.setting == "swap":
        state = f"on: {', '.join(row.target for row in rows)}"
    obstacle = next((row.obstacle for row in rows if row.obstacle), "")
    state += f"; {host.SETTINGS[first.setting].summary}"
    return Finding(subject, state, severity, obstacle or _apply(first))


def _apply(row: host.Row) -> str:
    of_disk = f" --disk {row.target}" if host.SETTINGS[row.setting].of_disks else ""
    return f"fsgreen host apply {row.setting}{of_disk}"


def _timers(rows: Sequence[host.Row], tree: Tree) -> Finding:
    if not timers.here(tree):
        return _cron(tree)
    if rows[0].now is None:
        return Finding("timers", f"not readable: {rows[0].obstacle}", "note")
    running = [row for row in rows if row.now == timers.RUNNING]
    if not running:
        return Finding("timers", "none is running", "ok")
    remedy = next((_apply(row) for row in running if row.changes), running[0].obstacle)
    following = timers.next_elapse()
    if following is None:
        state = f"{len(running)} are running; when the next one begins cannot be read"
        return Finding("timers", state, "note", remedy)
    unit, in_s = following
    state = f"{len(running)} are running; {unit} begins in {max(0.0, in_s) / 60:.0f} min"
    return Finding("timers", state, "warning" if in_s < SOON_S else "note", remedy)


def _cron(tree: Tree) -> Finding:
    names = {tree.text(f"proc/{entry}/comm") for entry in tree.folders("proc", "comm")}
    running = sorted(name for name in CRON & names if name)
    if running:
        return Finding(
            "timers",
            f"{', '.join(running)} may start jobs",
            "warning",
            f"service {running[0]} stop; and start it again afterwards",
        )
    inside = machine.container(tree)
    if inside != "none":
        return Finding("timers", f"timers of the host cannot be seen ({inside})", "note")
    return Finding("timers", "neither systemd nor cron is running", "ok")
