"""Whether testbeds are equal, so that they may share the blocks of a plan.

Three things tell: what their machines say of themselves, how fast a core of each is, and a campaign
of the baseline on each. Two testbeds are equal where two one-sided tests show that they differ by
less than the bound of the study in every metric that it compares cells in (rule 37). All pairs must
pass, so that no level is shared among them (Berger 1982, intersection-union tests).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from fsgreen import audit, reduce, stats
from fsgreen.campaign import Campaign
from fsgreen.campaign.identity import OF_THE_DAY
from fsgreen.design import load_study, metrics
from fsgreen.design.members import member
from fsgreen.errors import FsgreenError
from fsgreen.words import plural

ITS_OWN = (*OF_THE_DAY, "by_id", "serial", "power_cycles")
"""What equal testbeds and meters say of themselves that differs: the day, and which of a model."""

SHOWN = 5

REPLICATE = 'set design = "replicate" in the fleet file: every testbed measures all cells'

Identity = Mapping[str, Any]


def check(fleet: str, baseline: str, testbeds: Sequence[str]) -> None:
    """Refuse testbeds that are not shown to be equal; keep what was found as `equality.csv`.

    `fleet` is the campaign whose blocks they are to share, in the results of which the table is
    kept. `baseline` is what the campaigns of the baseline are called before the name of the
    testbed. Raises FsgreenError if they are not, with the numbers.
    """
    campaigns = {name: Campaign(member(baseline, name)) for name in testbeds}
    plan = campaigns[testbeds[0]].plan()
    identities = {name: each.identity() for name, each in campaigns.items()}
    unlike = [*differences(identities, plan.bounds)]
    unlike += [
        f"meter: {name} made load pulses for one that records on its own, which is attached to the "
        "campaign of one testbed"
        for name, each in campaigns.items()
        if each.made_pulses
    ]
    if unlike:
        raise FsgreenError(
            "the testbeds are not of one kind, so their trials are not pooled:\n    "
            + "\n    ".join(unlike[:SHOWN])
            + (f"\n    and {len(unlike) - SHOWN} more" if len(unlike) > SHOWN else ""),
            where=baseline,
            next_step=f"leave out the testbed that differs, or {REPLICATE}",
        )
    trials = {name: _reduced(each.name) for name, each in campaigns.items()}
    bound = plan.bounds["equivalence_percent"] / 100
    table = pd.DataFrame(compared(trials, load_study(plan.study).metrics, bound))
    file = reduce.write_table(table, fleet, "equality")
    apart = table[~table["equal"]].sort_values("equivalence_p", ascending=False)
    if len(apart):
        lines = [_spelled(row) for row in apart.head(SHOWN).to_dict("records")]
        raise FsgreenError(
            f"the testbeds are not shown to be equal, within {100 * bound:g} %, in "
            f"{len(apart)} of {plural(len(table), 'comparison')} of their baseline:\n    "
            + "\n    ".join(lines),
            where=file,
            next_step=f"{REPLICATE}; where an interval is only too wide, raise minimum_trials "
            "among the bounds of the study, under another --name",
        )


def differences(identities: Mapping[str, Identity], bounds: Mapping[str, float]) -> Iterator[str]:
    """Yield in what testbeds differ by their records, in a line each.

    Audits are compared as those of trials are (rule 9), but for the serial numbers of disks.
    """
    audits = ((name, each["audit"]) for name, each in identities.items())
    for key, values in audit.differences_of_testbeds(audits).items():
        yield f"{key}: {', '.join(map(str, values))}"
    said = [_said(identity) for identity in identities.values()]
    for key in dict.fromkeys(key for each in said for key in each):
        values = list(dict.fromkeys(each.get(key, "nothing") for each in said))
        if len(values) > 1:
            yield f"{key}: {', '.join(values)}"
    speeds = {name: each["audit"].get("speed_loops_s") for name, each in identities.items()}
    if known := {name: speed for name, speed in speeds.items() if speed}:
        bound_percent = bounds.get("speed_percent", bounds["equivalence_percent"])
        slow, fast = (choose(known, key=lambda name: known[name]) for choose in (min, max))
        slower_percent = 100 * (1 - known[slow] / known[fast])
        if slower_percent > bound_percent:
            yield (
                f"speed of a core: {slow} is {slower_percent:.1f} % slower than {fast}, "
                f"more than {bound_percent:g} %"
            )


def compared(
    trials: Mapping[str, pd.DataFrame], names: Sequence[str], bound: float
) -> Iterator[dict[str, Any]]:
    """Yield a row for each pair of testbeds and metric, as `equality.csv` has them.

    `trials` are those of the baseline on each testbed, as in `trials.csv`, and `names` the metrics.
    `bound` is the largest relative difference that counts as none.
    """
    for name in names:
        cells = {testbed: _totals(name, of_it) for testbed, of_it in trials.items()}
        for against, testbed in combinations(trials, 2):
            found = stats.compare_unpaired(cells[testbed], cells[against], bound)
            yield {
                "testbed": testbed,
                "against": against,
                "metric": name,
                "n": found.ratio.n,
                "ratio_x": found.ratio.value,
                "ratio_low_x": found.ratio.low,
                "ratio_high_x": found.ratio.high,
                "equivalence_p": found.equivalence_p,
                "equal": found.equivalence_p < stats.LEVEL,
            }


def _reduced(campaign: str) -> pd.DataFrame:
    reduce.write(campaign)
    return reduce.read_table(campaign, "trials")


def _totals(metric: str, trials: pd.DataFrame) -> pd.DataFrame:
    above, below = metrics.get(metric).totals(trials)
    return pd.DataFrame({"above": above, "below": below})


def _said(identity: Identity) -> dict[str, str]:
    """Return what a testbed, its meters and its workloads are, by key, as JSON."""
    said: dict[str, Any] = {}
    parts = {"testbed": identity["testbed"]}
    parts |= {f"meter {name}": info for name, info in identity["meters"].items()}
    for part, told in parts.items():
        said |= {f"{part} {key}": value for key, value in told.items() if key not in ITS_OWN}
    said |= {key: identity.get(key) for key in ("boundary", "workloads")}
    return {key: json.dumps(value, sort_keys=True) for key, value in said.items()}


def _spelled(row: Mapping[Any, Any]) -> str:
    low, high = row["ratio_low_x"], row["ratio_high_x"]
    return (
        f"{row['metric']}: {row['testbed']} over {row['against']} {row['ratio_x']:.3f}x "
        f"[{low:.3f}, {high:.3f}], n = {row['n']}, p = {row['equivalence_p']:.2g} of a difference "
        "as large as the bound"
    )
