"""The room in which a campaign is started, paused, watched, and judged when it has ended."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

import ipywidgets as widgets

from fsgreen import paths, rules
from fsgreen.errors import FsgreenError
from fsgreen.pipeline.stages import outcome_of
from fsgreen.trial import Trial
from fsgreen.view import markup
from fsgreen.view.cockpit.choose import NOTHING, Choose
from fsgreen.view.cockpit.harness import Harness
from fsgreen.view.cockpit.seen import Seen, Watch
from fsgreen.view.explore.controls import button
from fsgreen.words import plural

POLL_S = 2.0
"""Between two looks at a campaign that is measured."""

HEAD = ("rule", "question", "found", "remedy")
"""Columns of the rules that are shown."""

SAID = 16
"""Lines that are shown of what the process says."""


_looking: Run | None = None
"""The one that was made last: whoever runs the cells again looks no more with those before."""


class Run(widgets.VBox):
    """Start, pause, and how far the campaign is; it is looked at again and again while it runs.

    `trust` shows what came of the campaign and how far it can be trusted, once it has been
    analysed.
    """

    def __init__(self, choose: Choose) -> None:
        global _looking
        if _looking is not None:
            _looking.stop()
        _looking = self
        self._choose = choose
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._harnesses: dict[str, Harness] = {}
        self._harness: Harness | None = None
        self._watch: Watch | None = None
        self._fault: FsgreenError | None = None
        self.start = button("Start", "measure, or go on where it was stopped", "play")
        self.pause = button("Pause", "stop; only the trial that runs now is lost", "pause")
        self.look = button("Look again", "show how far it is now", "refresh")
        self.state, self.bar = widgets.HTML(), widgets.IntProgress(layout={"width": "auto"})
        self.now, self.status, self.last, self.said, self.trust = (widgets.HTML() for _ in range(5))
        super().__init__(
            [
                widgets.HTML(markup.style()),
                widgets.HBox([self.start, self.pause, self.look]),
                self.state,
                self.bar,
                self.now,
                self.status,
                self.last,
                self.said,
            ]
        )
        self.start.on_click(lambda _: self._do(self._begin))
        self.pause.on_click(lambda _: self._do(self._break_off))
        self.look.on_click(lambda _: self.refresh())
        choose.when_changed(self.change)
        self.change()

    def change(self) -> None:
        """Turn to the campaign that is chosen now."""
        order = self._choose.order
        with self._lock:
            self._harness = self._watch = self._fault = None
            try:
                if order is not None:
                    name = order.campaign
                    self._harness = self._harnesses.setdefault(name, Harness(name))
                    self._watch = Watch(name)
            except FsgreenError as error:
                self._fault = error
        self.refresh()
        self.follow()

    def follow(self) -> None:
        """Look again and again, if the campaign runs and nobody does yet."""
        with self._lock:
            runs = self._harness is not None and self._harness.running()
            if runs and self._thread is None:
                self._stop.clear()
                self._thread = threading.Thread(target=self._poll, name="cockpit", daemon=True)
                atexit.register(self.stop)
                self._thread.start()

    def stop(self) -> None:
        """Look no more; what is measured goes on. Harmless when repeated."""
        self._stop.set()
        if (thread := self._thread) is not None:
            thread.join()
            atexit.unregister(self.stop)
            self._thread = None

    def refresh(self) -> bool:
        """Show how far it is now; return whether it runs."""
        with self._lock:
            harness, watch, fault = self._harness, self._watch, self._fault
            if harness is None or watch is None:
                self._show_nothing(fault)
                return False
            runs = harness.running()
            try:
                seen = watch.seen()
            except FsgreenError as error:
                seen, fault = None, fault or error
            self._show(harness, watch, seen, runs)
            if fault is not None:
                self.state.value += markup.fault(fault)
            return runs

    def _poll(self) -> None:
        """Look until it runs no longer, or nobody wants to know."""
        runs = True
        while runs and not self._stop.wait(POLL_S):
            with self._lock:
                runs = False
                try:
                    runs = self.refresh()
                finally:
                    if not runs:
                        atexit.unregister(self.stop)
                        self._thread = None

    def _do(self, what: Callable[[], None]) -> None:
        """Do what a button asks for, and show what came of it or why nothing did."""
        with self._lock:
            try:
                self._fault = None
                what()
            except FsgreenError as error:
                self._fault = error
        self.refresh()
        self.follow()

    def _begin(self) -> None:
        order = self._choose.order
        if order is None or self._harness is None:
            raise self._choose.fault or NOTHING
        self._harness.start(order)

    def _break_off(self) -> None:
        if self._harness is None:
            raise NOTHING
        self._harness.pause()

    def _show_nothing(self, fault: FsgreenError | None) -> None:
        for place in (self.state, self.now, self.status, self.last, self.said, self.trust):
            place.value = ""
        self.bar.layout.display = "none"
        self.start.disabled = self.pause.disabled = True
        if fault is not None:
            self.state.value = markup.fault(fault)

    def _show(self, harness: Harness, watch: Watch, seen: Seen | None, runs: bool) -> None:
        is_measured = seen is not None and seen.done == seen.due
        is_judged = not runs and (paths.results(harness.campaign) / "trust.csv").is_file()
        has_failed = not runs and harness.failed()
        self.start.disabled, self.pause.disabled = runs, not runs or is_measured
        self.start.description = "Go on" if seen is not None and not runs else "Start"
        power = watch.power()
        elsewhere = bool(power) and not runs
        trials = watch.running() if runs or elsewhere else []
        state = "the last start here failed; " * has_failed
        state += _state(seen, runs, elsewhere=elsewhere, is_judged=is_judged)
        self.state.value = markup.says(f"{harness.campaign}: {state}")
        self.bar.layout.display = None if seen is not None else "none"
        if seen is not None:
            self.bar.max, self.bar.value = max(1, seen.due), seen.done
        now = [f"now: {', '.join(trials)}"] * bool(trials) + [f"power: {power}"] * bool(power)
        self.now.value = "".join(map(markup.says, now))
        self.status.value = markup.lines(seen.lines if seen is not None else ())
        self.last.value = "" if seen is None or seen.last is None else _checks(seen.last)
        said, is_folded = markup.lines(harness.lines(SAID)), is_judged and not has_failed
        self.said.value = markup.folded("what the process said", said) if is_folded else said
        self.trust.value = _trust(harness.campaign) if is_judged else ""


def _state(seen: Seen | None, runs: bool, *, elsewhere: bool, is_judged: bool) -> str:
    """Return how a campaign stands, how far it is, and when it ends."""
    if seen is None:
        return "begins" if runs else "not begun"
    far = f"{seen.done} of {seen.due} trials measured"
    if seen.done == seen.due:
        if runs:
            return f"{far}; being analysed"
        return f"{far}; ended" if is_judged else f"{far}; not analysed: Go on does it"
    if not (runs or elsewhere):
        return f"paused, {far}"
    by = " by a process that no cockpit started" if elsewhere else ""
    ends = time.strftime("%a %H:%M", time.localtime(seen.ends_unix_s))
    return f"measuring{by}, {far}; ends about {ends}"


def _checks(last: Trial) -> str:
    """Return whether the last trial counts, and what was asked of it."""
    record = last.record
    counts = "counts" if record.exit == "ok" else f"does not count: {record.reason}"
    asked = sorted(record.checks, key=lambda check: check.ok)
    rows = [(check.rule, "yes" if check.ok else "no", check.detail) for check in asked]
    kept = sum(check.ok for check in asked)
    return markup.says(f"last trial {record.trial} {counts}") + markup.folded(
        f"{kept} of {len(asked)} checks kept", markup.table(("rule", "kept", "found"), rows)
    )


def _trust(campaign: str) -> str:
    """Return what came of a campaign and of each rule, those folded that ask for nothing."""
    try:
        table = rules.by_state(rules.read(campaign))
        came = _came(campaign)
    except FsgreenError as error:
        return markup.fault(error)
    parts = [markup.style(), markup.lines([came])]
    for state, of_state in table.groupby("state", sort=False):
        listed = markup.table(HEAD, of_state[[*HEAD]].itertuples(index=False))
        title = f"{plural(len(of_state), 'rule')} {state}: {rules.STATES[state]}"
        parts.append(
            markup.says(title) + listed if state == "fired" else markup.folded(title, listed)
        )
    return "".join(parts)


def _came(campaign: str) -> str:
    """Return what came of a campaign; before its report is made, how far it can be trusted."""
    try:
        return outcome_of(campaign)
    except FsgreenError:
        return rules.summary(campaign)
