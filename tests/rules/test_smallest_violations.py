"""The smallest violation that each judge finds, as docs/statistics.md has it (rule 51)."""

import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sound_campaign
import synthetic
from sound_campaign import answer

from fsgreen import paths, rules, stats
from fsgreen.analysis import owncoverage
from fsgreen.analysis.claims.assay import with_power
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.discarded import beside
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.claims import Band, Part, judge
from fsgreen.reduce import factors_of
from fsgreen.rules.trust import OF_REPORT

SECONDS = 10
"""Of a simulated trial."""

TENTH = (float(np.exp(-0.1)), float(np.exp(0.1)))
"""A band of 10 % on either side, by logarithms as intervals are."""

FOUND, MISSED = 0.8, 0.5
"""A size that is found is found so often; one that is missed is found less often."""

MAKES = {}
"""How evidence, or a report, with a violation of a given size is drawn, and how often: for each
rule, as many as it has rows."""


def violates(number, repetitions):
    def enter(function):
        MAKES.setdefault(number, []).append((function, repetitions))
        return function

    return enter


def rates(evidence, sd, rng):
    """Seconds of each trial with this scatter around its throughput."""
    level = evidence.trials["throughput_ops_s"].to_numpy(dtype=float)[:, None]
    return level * np.exp(rng.normal(0, sd, (len(evidence.trials), SECONDS)))


@violates(7, 5)
@violates(42, 5)
def reads_that_memory_answered(sound, percent, rng):
    from_device = (1 - percent / 100) * sound.trials["read_b"] * rng.uniform(0.99, 1.01, 30)
    return replace(sound, trials=sound.trials.assign(device_read_b=from_device))


@violates(24, 40)
def steps_before_the_last_two_seconds(sound, percent, rng):
    series = rates(sound, 0.02, rng)
    series[:, -2:] *= 1 + percent / 100
    classes = [stats.classify_series(row) for row in series]
    return replace(sound, trials=sound.trials.assign(steady=classes))


@violates(25, 40)
def a_rise_from_the_first_to_the_last_of_five_blocks(sound, percent, rng):
    trials = sound.trials[sound.trials["block"] <= 5]
    of_block = np.exp(rng.normal(0, 0.01, 6))[trials["block"]]
    rise = 1 + percent / 100 * (trials["block"] - 1) / 4
    scattered = 1000 * rise * of_block * np.exp(rng.normal(0, 0.01, len(trials)))
    return replace(sound, trials=trials.assign(throughput_ops_s=scattered))


@violates(45, 5)
def claims_without_a_state_that_memory_answered(sound, percent, rng):
    report = sound_campaign.make_report()
    trials = reads_that_memory_answered(sound, percent, rng).trials
    return replace(report, claims=report.claims.assign(states=None), trials=trials)


@violates(46, 1)
def an_interval_in_a_band_of_ten_per_cent(sound, percent, rng):
    """The power is what the assay says of such an interval around the published number."""
    low, high = (float(np.exp(side * percent / 100)) for side in (-1, 1))
    ours, target = stats.Estimate(1.0, low, high, 5, degrees=1000), Band(*TENTH, 0)
    part = Part("a ratio", judge(ours, target), "measured", band=target, ours=ours)
    power = with_power(part, synthetic.BOUNDS["equivalence_percent"] / 100).power
    report = sound_campaign.make_report()
    return replace(report, parts=report.parts.assign(power_p=power))


@violates(47, 40)
def levels_of_trials_that_their_seconds_share(sound, percent, rng):
    level = 1000 * np.exp(rng.normal(0, percent / 100, len(sound.trials)))
    seconds = level[:, None] * np.exp(rng.normal(0, 0.03, (level.size, SECONDS)))
    names = np.repeat(sound.trials["trial"].to_numpy(), SECONDS)
    series = pd.DataFrame({"trial": names, "throughput_ops_s": seconds.ravel()})
    trials = sound.trials.assign(throughput_ops_s=seconds.mean(axis=1))
    return replace(sound, trials=trials, series=series)


@violates(48, 5)
def a_discarded_block_whose_cells_were_slow_by_other_factors(sound, percent, rng):
    seed = int(rng.integers(1 << 30))
    same = {cell.label: 1 / synthetic.SPEED[cell["file_system"]] for cell in sound_campaign.CELLS}
    trials = synthetic.trials_frame(sound_campaign.CELLS, 5, seed, boundary="wall", speed=same)
    first = trials[trials["block"] == 1]
    factors = 0.6 * np.exp(rng.normal(0, percent / 100, len(first)))
    discarded = first.assign(work_ops=first["work_ops"] * factors)

    def compare(of):
        return effects_table(of, pairs_of(of, USUAL, TREATMENTS), synthetic.BOUNDS)

    effects = beside(compare(trials), trials, discarded, compare)
    return replace(sound, discarded=sound.records[:3], effects=effects)


@violates(49, 100)
def campaigns_that_are_apart(sound, percent, rng):
    """A hundred draws suffice: of 12 % nine in ten disagree, of 3 % about one in eight."""
    report = sound_campaign.make_report()
    half = 0.05
    logs = rng.normal([0, np.log1p(percent / 100)], half / 1.96)
    numbers = [
        report.parts.assign(
            ours_x=np.exp(log),
            ours_low_x=np.exp(log - half),
            ours_high_x=np.exp(log + half),
            degrees_count=np.inf,
        )
        for log in logs
    ]
    return replace(report, parts=numbers[0], others={"elsewhere": numbers[1]})


@violates(50, 40)
def work_per_joule_that_repeats_work_per_second(sound, percent, rng):
    """The size is what both have in common, of a scatter of 30 % among ratios."""
    common = np.sqrt(percent / 100)
    logs = rng.normal(0, 0.3, (2, 12))
    logs[1] = common * logs[0] + np.sqrt(1 - common**2) * logs[1]
    rows = [
        {"metric": metric, "ratio_x": np.exp(log), "kind": "x", "file_system": f"f{nth}"}
        for metric, of in zip(("throughput", "efficiency"), logs, strict=True)
        for nth, log in enumerate(of)
    ]
    return replace(sound, effects=pd.DataFrame(rows).assign(boundary="modelled"))


@violates(51, 1)
def seconds_too_few_for_a_judge_that_is_quiet(sound, seconds, rng):
    return replace(sound, trials=sound.trials.assign(duration_s=seconds))


@violates(52, 20)
def trials_in_a_rare_mode_that_is_slower_by_two_fifths(sound, percent, rng):
    trials = of_ten_cells_in_five_blocks(rng)
    return slowed(sound, trials, rng.random(len(trials)) < percent / 100)


@violates(52, 20)
def trials_of_one_cell_alone_in_such_a_mode(sound, percent, rng):
    """A campaign in which none was shows nothing: half of them, at one trial in eight."""
    trials = of_ten_cells_in_five_blocks(rng)
    alone = (trials["file_system"] == "ext4") & (trials["option"] == "wrbck")
    assert alone.sum() == 5
    return slowed(sound, trials, alone & (rng.random(len(trials)) < percent / 100))


def of_ten_cells_in_five_blocks(rng):
    cells = synthetic.cells(["webserver"], list(synthetic.SPEED), ["default", "wrbck"])
    return synthetic.trials_frame(cells, 5, int(rng.integers(1 << 30)), boundary="wall")


def slowed(sound, trials, slow):
    """The evidence with these trials, some of which are slower by two fifths.

    Of its cells there is what the rule judges, and no other column of `cells.csv`.
    """
    rates = trials["throughput_ops_s"] * np.where(slow, 0.6, 1.0)
    trials = trials.assign(throughput_ops_s=rates)
    covers = owncoverage.of_cells(trials, trials["block"])["covers_percent"]
    of_cells = trials.assign(coverage_percent=covers).groupby(factors_of(trials), dropna=False)
    cells = of_cells.agg(n=("trial", "size"), coverage_percent=("coverage_percent", "first"))
    return replace(sound, cells=cells.reset_index().assign(starred=True), effects=pd.DataFrame())


def rows_of_the_guide():
    """Rule, which of its rows, the size that is missed and the one that is found, by the guide."""
    text = (paths.root() / "docs" / "statistics.md").read_text()
    section = text.split("## The smallest violation that a judge finds")[1].split("\n## ")[0]
    row = r"^\| (\d+) \| [^|]+ \| ([\d.]+) [^|]*\| ([\d.]+) [^|]*\|$"
    seen = Counter()
    rows = []
    for number, missed, found in re.findall(row, section, re.M):
        rows.append((int(number), seen[number], float(missed), float(found)))
        seen[number] += 1
    return rows


def fires_so_often(share, number, nth, size, sound):
    """Whether at least this share of violations of a size fires; ends once that is certain."""
    make, repetitions = MAKES[number][nth]
    rng, needed = np.random.default_rng(number), math.ceil(share * repetitions)
    fired = quiet = 0
    while fired < needed and quiet <= repetitions - needed:
        made = make(sound, size, rng)
        judged = OF_REPORT[number](made) if number in OF_REPORT else answer(number, made)
        if judged.state == "fired":
            fired += 1
        else:
            quiet += 1
    return fired >= needed


def test_every_judge_of_what_decides_has_its_smallest_violation():
    listed = [number for number, *_ in rows_of_the_guide()]
    assert listed == sorted(number for number, made in MAKES.items() for _ in made)
    assert {r.number for r in rules.rules().values() if r.group == "deciding"} <= set(listed)


@pytest.mark.parametrize(("number", "nth", "missed", "found"), rows_of_the_guide())
def test_it_is_found_and_a_smaller_one_is_not(number, nth, missed, found, sound):
    """A judge that cannot fire says nothing by its silence."""
    assert fires_so_often(FOUND, number, nth, found, sound)
    assert not fires_so_often(MISSED, number, nth, missed, sound)
