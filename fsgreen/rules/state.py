"""Rules 7 to 12: were the machine, its cache and its device in the state that the plan declares?"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from fsgreen import audit
from fsgreen.campaign.idlepower import idle_band_w
from fsgreen.rules import served
from fsgreen.rules.answer import Answer, Judge, fired, named_trials, quiet, set_aside, unknown
from fsgreen.rules.device import cell_of, device_state
from fsgreen.rules.evidence import Evidence
from fsgreen.trial import TrialRecord
from fsgreen.words import listed, plural

SPEED = "speed_loops_s"
"""The key of an audit for the measured speed of one core."""

CALM = {
    "governor": ("performance",),
    "turbo": ("off",),
    "smt": ("off", "forceoff", "notsupported", "notimplemented"),
    "swap_b": (0,),
}
"""Settings under which speed depends only on the work (rule 10)."""

OF_THE_AUDIT = ("CPU governor", "turbo", "swap")
"""The subjects of the preflight table that stand for settings in `CALM`."""


def cache_state(evidence: Evidence) -> Answer:
    """Rule 7: the plan declares the state of the cache, and each trial checks it."""
    levels = {evidence.level(record, "cache") for record in evidence.records}
    if None in levels:
        return fired("the plan holds the cache neither constant nor as a factor")
    checked = evidence.checked(7)
    if failed := evidence.failed(7):
        return fired(f"another state than declared in {named_trials(failed)}")
    if "cold" in levels and evidence.identity["testbed"].get("cold_cache") is False:
        return fired("declared cold, but a file system in memory has no cold cache")
    if len(checked) < len(evidence.records):
        return unknown(
            f"the state was looked at in {len(checked)} of {len(evidence.records)} trials only"
        )
    if unlike := _unlike_while_measured(evidence):
        return unlike
    how = next(iter(checked.values()))
    return quiet(
        f"{' and '.join(sorted(map(str, levels)))} before the warm-up in each trial, such as: {how}"
    )


def _unlike_while_measured(evidence: Evidence) -> Answer | None:
    """Return the answer if the reads of the measured phase contradict the declared cache.

    None if they do not.
    """
    trials = evidence.trials
    percent, cold = served.served_percent(trials), trials["cache"] == "cold"
    answered = trials["trial"][cold & (percent < served.MEMORY_PERCENT)]
    if len(answered):
        return fired(
            "cold before the warm-up, but memory answered while it was measured: the device served "
            f"under {served.MEMORY_PERCENT:g} % of the bytes read in {len(answered)} of "
            f"{int((cold & percent.notna()).sum())} cold trials ({served.by_workload(trials)})"
        )
    missed = trials["trial"][(trials["cache"] == "warm") & (percent > served.MEMORY_PERCENT)]
    if len(missed):
        return fired(f"declared warm, but the device served {named_trials(missed)}")
    if (blank := int(served.uncounted(trials).sum())) > 0:
        return unknown(f"what the device served is not counted in {plural(blank, 'trial')}")
    return None


def audit_at_both_ends(evidence: Evidence) -> Answer:
    """Rule 9: audits, mounts and measured speed agree in all trials."""
    audits = list(_audits(evidence))
    changed = audit.differences_of_testbeds(
        (evidence.testbeds.get(trial, ""), audited) for trial, audited in audits
    )
    if changed:
        seen = "; ".join(f"{key}: {listed(map(str, v))}" for key, v in sorted(changed.items()))
        return fired(f"audits differ in {seen}")
    if unlike := _unlike_mounts(evidence.records):
        return fired(f"made or mounted in more than one way: {listed(unlike)}")
    blank = [key for key in audit.CHECKED if all(audited.get(key) is None for _, audited in audits)]
    same = f"{len(audits)} audits agree in {len(audit.CHECKED) - len(blank)} keys"
    if blank:
        same += f" (not known: {', '.join(blank)})"
    first = evidence.identity["audit"].get(SPEED)
    if first is None or any(audited.get(SPEED) is None for _, audited in audits):
        return unknown(f"{same}, but the speed of the processor was not recorded")
    firsts = evidence.identity.get("speeds_loops_s", {})  # of testbeds that share the blocks
    off_percent: dict[str, float] = defaultdict(float)
    for trial, audited in audits:
        own = firsts.get(evidence.testbeds.get(trial)) or first
        off_percent[trial] = max(off_percent[trial], 100 * abs(audited[SPEED] / own - 1))
    worst = max(off_percent.values())
    bound_percent = evidence.plan.bounds.get("speed_percent")
    speed = f"the processor was at most {worst:.1f} % off its first speed"
    if bound_percent is None:
        return unknown(f"{same}; {speed}, for which the plan has no bound")
    if slow := [trial for trial, percent in off_percent.items() if percent > bound_percent]:
        return fired(f"{speed}, more than {bound_percent:g} % in {named_trials(slow)}")
    return quiet(f"{same}; {speed}")


def calm_machine(evidence: Evidence) -> Answer:
    """Rule 10: the machine was calm by its first audit, the preflight tables, and each trial.

    A trial checks how much processor time other programs took.
    """
    began = evidence.identity["audit"]
    wrong = [
        f"{key} {began[key]}" for key, good in CALM.items() if began.get(key) not in (None, *good)
    ]
    checked = evidence.checked(10)
    disturbed = evidence.failed(10)
    again = set_aside(evidence, 10)
    if disturbed:
        return fired(f"others were busy in {named_trials(disturbed)}")
    wrong += _warnings(evidence.identity.get("preflight", ()))
    if wrong:
        return fired(f"{'; '.join(wrong)}{again}")
    blank = [key for key in CALM if began.get(key) is None]
    if len(checked) < len(evidence.records):
        return unknown(
            f"what others took was looked at in {len(checked)} of {len(evidence.records)} trials"
        )
    calm = (
        f"other programs took less than {evidence.plan.bounds['others_percent']:g} % of all cores "
        f"in each of {len(checked)} trials{again}"
    )
    if blank:
        return unknown(f"{calm}; {' and '.join(blank)} cannot be read here (a virtual machine?)")
    return quiet(f"{calm}; {', '.join(f'{key} {began[key]}' for key in CALM)}")


def _warnings(starts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the warnings of the preflight tables that are not in the audit already."""
    findings = [
        finding
        for start in starts
        for finding in start["findings"]
        if finding["severity"] != "note" and finding["subject"] not in OF_THE_AUDIT
    ]
    said = {finding["subject"]: finding["state"] for finding in findings}
    return [f"preflight, {subject}: {state}" for subject, state in said.items()]


def cool_down(evidence: Evidence) -> Answer:
    """Rule 11: power reached the idle band before each trial, and stayed in it until its work."""
    checked = evidence.checked(11)
    if failed := evidence.failed(11):
        return fired(f"not settled in {named_trials(failed)}")
    if len(checked) < len(evidence.records):
        return unknown(f"settling is recorded for {len(checked)} of {len(evidence.records)} trials")
    trials = evidence.trials
    bands_w = trials["trial"].map(_idle_bands_w(evidence))
    band = " or ".join(f"{band_w:.1f} W" for band_w in sorted(set(bands_w)))
    above = trials[trials["idle_power_before_w"] > bands_w]
    if len(above):
        most_w = above["idle_power_before_w"].max()
        return fired(
            f"{len(above)} of {len(trials)} trials idled above the band of {band} before "
            f"their work, at up to {most_w:.1f} W: {listed(above['trial'])}"
        )
    longest_s = max(record.settle_s for record in evidence.records)
    return quiet(
        f"below {band} before each of {len(trials)} trials, after {longest_s:.1f} s at most"
    )


def _idle_bands_w(evidence: Evidence) -> dict[str, float]:
    """Return the upper end of each trial's idle band, in watts: that of its disk and its states."""
    cells = {cell_of(record): record.cell for record in evidence.records}
    bands_w = {
        name: idle_band_w(evidence.identity, evidence.plan, cell) for name, cell in cells.items()
    }
    return {record.trial: bands_w[cell_of(record)] for record in evidence.records}


def dirty_pages(evidence: Evidence) -> Answer:
    """Rule 12: the flush of dirty pages is a phase of its own; the answer has its duration."""
    spent_s = {
        record.trial: sum(phase.duration_s for phase in record.phases if phase.name == "flush")
        for record in evidence.records
        if any(phase.name == "flush" for phase in record.phases)
    }
    if without := [record.trial for record in evidence.records if record.trial not in spent_s]:
        return fired(f"no phase for the flush in {named_trials(without)}")
    worst = max(spent_s, key=lambda trial: spent_s[trial])
    text = (
        f"the flush is a phase of its own, of {median(spent_s.values()):.2f} s typically and "
        f"{spent_s[worst]:.2f} s at most ({worst})"
    )
    left_b = evidence.trials["dirty_before_flush_b"].dropna()
    if left_b.empty:
        return quiet(text)
    return quiet(f"{text}, beginning with up to {left_b.max() / 2**20:.0f} MiB of dirty pages")


def _audits(evidence: Evidence) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each audit with the name of its trial, which is "" for the audit of the campaign."""
    yield "", evidence.identity["audit"]
    for trial, ends in evidence.audits.items():
        yield trial, ends["start"]
        yield trial, ends["end"]


def _unlike_mounts(records: Sequence[TrialRecord]) -> list[str]:
    """Return the cells whose trials were not all made and mounted alike."""
    seen: dict[str, set[str]] = defaultdict(set)
    for record in records:
        mount = dict(record.mount)
        mount.pop("fragmentation", None)  # a measurement, so it differs each time
        mount["state"] = (mount.get("state") or {}).get("name")  # so do its counters
        device = mount.pop("device", None)  # its number may differ from day to day
        mount["mkfs"] = [word for word in mount.get("mkfs", ()) if word != device]
        seen[cell_of(record)].add(json.dumps(mount, sort_keys=True))
    return [cell for cell, ways in seen.items() if len(ways) > 1]


JUDGES: Mapping[int, Judge] = {
    7: cache_state,
    8: device_state,
    9: audit_at_both_ends,
    10: calm_machine,
    11: cool_down,
    12: dirty_pages,
}
