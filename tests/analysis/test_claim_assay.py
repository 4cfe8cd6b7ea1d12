"""Rule 46: what a design can decide, before and beside what it decided."""

import math
from dataclasses import replace

import numpy as np
import pytest
import synthetic
from scipy import stats as distributions

from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims import declared as room
from fsgreen.analysis.claims.assay import Precision, claimed, power, with_power
from fsgreen.analysis.claims.ledger import claims_table, judge_claims, parts_table
from fsgreen.claims import ABOVE, Band, Part, judge
from fsgreen.stats import Estimate

BOUND, DRAWS = 0.05, 20_000
ABOUT, EQUAL, AT_MOST = Band(0.9, 1.1, 1), Band(0.95, 1 / 0.95, 0), Band(0.0, 1.58, 0)
RANGE = Band(1.8, 2.97, 1)


def simulated(target, known):
    """How often a claim that is right comes out of campaigns as reproduced."""
    rng = np.random.default_rng(46)
    value = rng.normal(np.log(claimed(target, BOUND)), known.error, DRAWS)
    error = known.error * np.sqrt(rng.chisquare(known.degrees, DRAWS) / known.degrees)
    half = distributions.t.ppf(0.975, known.degrees) * error
    ends = zip(np.exp(value - half).tolist(), np.exp(value + half).tolist(), strict=True)
    verdicts = [judge(Estimate(1, low, high, 5), target) for low, high in ends]
    return verdicts.count("reproduced") / DRAWS


def test_the_least_and_the_most_of_all_trials_have_no_power():
    """More trials widen such a range: no error, and so no chance, follows from it."""
    part = Part("MiB read", "inconclusive", "measured", band=ABOUT)
    spanning = with_power(replace(part, ours=Estimate.spanning(1.0, 0.8, 1.2, 9)), BOUND)
    assert spanning.verdict == "inconclusive" and math.isnan(spanning.power)
    known = with_power(replace(part, ours=Estimate(1.0, 0.8, 1.2, 9)), BOUND)
    assert known.verdict == "underpowered"
    of_table = parts_table({"slug": [spanning, known]})["degrees_count"]
    assert math.isnan(of_table[0]) and of_table[1] == 8, "a ledger would pool it"


@pytest.mark.parametrize("target", [ABOVE, ABOUT, EQUAL, AT_MOST, RANGE])
@pytest.mark.parametrize(("error", "degrees"), [(0.02, 4), (0.05, 4), (0.02, 60)])
def test_the_power_is_that_of_simulated_campaigns(target, error, degrees):
    """A number beside every verdict that no simulation bears out would be worse than none."""
    known = Precision(error, degrees)
    assert power(target, known, BOUND) == pytest.approx(simulated(target, known), abs=0.015)


def test_more_blocks_buy_power():
    few = Precision(0.06, 4)
    powers = [power(ABOUT, few.over(blocks, of=5), BOUND) for blocks in (5, 10, 40)]
    assert powers == sorted(powers)
    assert powers[0] < 0.1 < 0.9 < powers[-1]


def part(low, high, target=ABOUT, n=5):
    ours = Estimate((low + high) / 2, low, high, n)
    return with_power(Part("something", judge(ours, target), "measured", "", target, ours), BOUND)


def test_an_interval_too_wide_to_decide_is_no_inconclusive_evidence():
    """Most verdicts of the first campaigns were settled by the width, before any data."""
    wide, close = part(0.7, 1.4, EQUAL), part(1.03, 1.08, EQUAL)
    assert (wide.verdict, close.verdict) == ("underpowered", "inconclusive")
    assert wide.power < 0.1 < 0.9 < close.power


def test_what_was_decided_stays_decided_and_says_how_likely_that_was():
    """Little power makes no lie of an interval that excludes the number."""
    found = part(1.5, 2.2)
    assert found.verdict == "direction only, size excluded"
    assert found.power < 0.1


@pytest.mark.parametrize(("scatter", "verdict"), [(0.001, "inconclusive"), (0.3, "underpowered")])
def test_a_cell_that_moves_and_could_have_decided_nothing_is_underpowered(scatter, verdict):
    """It was called inconclusive: should have been decided, and was not."""
    of = synthetic.cells(["webserver"], ["ext3", "ext4"])
    trials = synthetic.trials_frame(of, scatter=scatter).assign(steady="no steady state")
    source = Source(trials, BOUND, {})
    faster, slower = reversed(of)
    ours = source.effect("throughput", faster, slower)
    part = source.part("ext4 over ext3", ABOUT, "1x", ours, faster, slower)
    assert (part.verdict, part.power < 0.5) == (verdict, verdict == "underpowered")


def test_two_trials_can_decide_nothing_and_what_never_varies_everything():
    nan = float("nan")
    assert part(nan, nan).verdict == "underpowered"
    assert part(nan, nan).power == 0
    assert part(1.05, 1.05).power == 1


OWN = """
small:
  statement: ext4 is 30 % above ext3.
  numbers: [{metric: throughput, op: approx, value: 1.3, unit: x}]
  where: {workload: webserver}
  ratio: [{number: 0, of: ext4, against: ext3}]
made:
  statement: xfs is above ext3, since it was made so.
  where: {workload: webserver}
  built: true
  order: [{of: [xfs, ext3], metric: throughput}]
"""


@pytest.mark.parametrize(("scatter", "least", "most"), [(0.004, 0.99, 1), (0.2, 0, 0.1)])
def test_the_power_stands_beside_every_verdict(scatter, least, most, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "PAPERS", tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "claims.yaml").write_text(OWN)
    claims = Claims.of("own")
    of = synthetic.cells(["webserver"], ["ext3", "ext4", "xfs"])
    trials = synthetic.trials_frame(of, scatter=scatter)
    ledger = judge_claims(claims, {"loop": Source(trials, BOUND, {})}, {}, {})
    table = claims_table(claims, ledger, "loop", "wall").set_index("slug")
    powers = parts_table(ledger).set_index("slug")["power_p"]
    assert table.loc["small", "power_p"] == powers["small"]
    assert least <= table.loc["small", "power_p"] <= most


def test_what_was_made_so_is_a_kind_of_evidence_of_its_own(tmp_path, monkeypatch):
    """Claims that follow from the model stood among those that simulation had reproduced."""
    monkeypatch.setattr(room, "PAPERS", tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "claims.yaml").write_text(OWN)
    claims = Claims.of("own")
    trials = synthetic.trials_frame(synthetic.cells(["webserver"], ["ext3", "ext4", "xfs"]))
    ledger = judge_claims(claims, {"simdisk": Source(trials, BOUND, {})}, {}, {})
    table = claims_table(claims, ledger, "simdisk", "wall").set_index("slug")
    assert table.loc["made", ["verdict", "basis"]].tolist() == ["by construction"] * 2
    assert table.loc["small", "basis"] == "simulated"
