"""All 52 claims of sun14 get a verdict, and it comes from the data."""

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import synthetic

from fsgreen import design
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import claims_table, judge_claims, parts_of
from fsgreen.claims import combine
from fsgreen.papers.sun14.claims import BEST, CHECKS, OfSimulatedDrive, contenders
from fsgreen.papers.sun14.figures import by_pair
from fsgreen.papers.sun14.published import RECOMPUTED
from fsgreen.papers.sun14.reference import FILE_SYSTEMS, PAPER, SCHEDULERS, WORKLOADS, Printed, pair

STUDY = design.load_study(PAPER)
OF_PAPER = Claims.of(PAPER, CHECKS, RECOMPUTED)
EVERY = [pair(*levels) for levels in product(WORKLOADS, FILE_SYSTEMS, SCHEDULERS)]


def trials(speed=lambda cell: 1.0, watts=lambda cell: 2.0, of=EVERY, **frame):
    """A table like `trials.csv`: five blocks, in which a cell is as fast as `speed` says.

    Memory answers, but of the file server; the drive gets what is written, and has time for it.
    """
    table = synthetic.frame_of(of, speed, watts, "modelled", **{"scatter": 0.002, **frame})
    served = table["workload"].map({"fileserver-sun14": 80.0}).fillna(0.5)
    moves_w = 0.3 * table["power_w"]
    return table.assign(device_read_percent=served, device_busy_percent=20.0, power_range_w=moves_w)


def source(*args, **of):
    treatments = ("file_system", "scheduler")
    table = trials(*args, **of)
    return OfSimulatedDrive(table, 0.05, OF_PAPER.needs, "modelled", treatments=treatments)


def parts(slug, of):
    return parts_of(OF_PAPER, slug, of, CHECKS)


def verdict(slug, of):
    return combine(parts(slug, of))[0]


def led_by(best):
    """Speeds in which one pair leads each workload."""
    leaders = [pair(workload, *names) for workload, names in best.items()]
    return lambda cell: 1.2 if cell in leaders else 1.0


@cache
def alike():
    """A campaign whose pairs are all alike."""
    return source()


@cache
def led():
    """A campaign in which those pairs lead that led in the paper."""
    return source(led_by(BEST))


@pytest.fixture(scope="module")
def ledger():
    return judge_claims(OF_PAPER, {"simdisk": alike()}, CHECKS, RECOMPUTED, Printed.load())


def test_every_claim_is_judged_or_says_what_it_needs(ledger):
    """52 claims; a check that no claim names would be dead."""
    assert len(OF_PAPER.entries) == 52
    assert {entry.check for entry in OF_PAPER.entries.values() if entry.check} == set(CHECKS)
    for slug, found in ledger.items():
        assert all(part.tested or part.needs or part.lacks or part.found for part in found), slug
    bases = {part.basis for found in ledger.values() for part in found if part.tested}
    assert bases == {"simulated", "by construction", "published"}


def test_the_best_pairs_are_those_that_lead_all_others():
    """The claim held most telling: another leader of one workload, and it falls."""
    assert verdict("s_best_summary", led()) == "reproduced"
    other = {**BEST, "webserver": ("xfs", "none")}
    assert verdict("s_best_summary", source(led_by(other))) in ("reversed", "not reproduced")


def test_a_pair_that_did_not_run_keeps_a_claim_on_all_open():
    """The best of nine is not the best of fifteen, and the part says which are missing."""
    ran = [cell for cell in EVERY if cell["file_system"] in ("ext2", "ext3", "xfs")]
    found = parts("s_best_summary", source(led_by(BEST), of=ran))
    open_parts = [part for part in found if not part.tested]
    assert len(open_parts) == len(WORKLOADS)
    assert all(part.needs or part.lacks for part in open_parts)


def test_metrics_choose_among_pairs_that_ran_and_name_those_that_did_not():
    """Pairs without trials once vanished from both checks, as if fifteen had been compared."""
    ran = [cell for cell in EVERY if cell["scheduler"] != "cfq"]
    of = source(led_by(BEST), of=ran)
    for slug in ("s_single_metric", "s_depends_combo", "s_vm_ext"):
        found = parts(slug, of)
        assert any(part.tested for part in found), slug
        lacking = {cell for part in found if not part.tested for cell in part.lacks}
        assert {f"varmail-sun14 {name}/default cfq" for name in FILE_SYSTEMS} <= lacking, slug


def test_a_cell_that_nothing_has_hides_none_that_only_this_campaign_lacks():
    """What the first needs was once all that a part said it lacks."""
    of = replace(source(of=EVERY[:1]), needs={"xfs": "a kernel with it"})
    assert of.missing(EVERY[-1], EVERY[1]) == {
        "needs": "a kernel with it",
        "lacks": ("varmail-sun14 ext2/default deadline",),
    }


def test_an_order_of_workloads_names_the_workloads():
    """It read "ext2/default cfq above ext2/default cfq"."""
    said = {part.published for part in parts("s_ws_highest", alike())}
    assert "webserver-sun14 above varmail-sun14" in said
    assert all(len({*text.split(" above ")}) == 2 for text in said), said


def test_a_row_of_the_ledger_says_once_what_many_numbers_are_held_against(ledger):
    """One claim had a column of thirty-six lines, four of them different."""
    row = (
        claims_table(OF_PAPER, ledger, "simdisk", "modelled").set_index("slug").loc["s_ws_highest"]
    )
    published, ours = (row[name].split("; ") for name in ("published", "ours"))
    assert len({*published}) == len(published) > 1
    assert len({text.partition("x [")[0] for text in ours}) == row["tested_count"]
    assert all(": " in text.partition("x [")[0] for text in ours)


def test_ranges_of_cases_have_no_power_and_are_never_pooled():
    """The fewest and the most pairs that may be best were given as an interval of Student's."""
    for slug in ("s_power_mean", "s_single_metric", "s_vm_ext"):
        for part in parts(slug, led()):
            assert math.isnan(part.ours.degrees) and math.isnan(part.power), part.what


def test_without_intervals_no_case_is_lost():
    """Of two blocks no interval follows: each lead may be there or not."""
    few = source(blocks=2)
    assert verdict("s_vm_ext", few) == "inconclusive"
    assert verdict("s_single_metric", few) == "inconclusive"


def test_what_leads_by_luck_is_not_named():
    """The first of six equal pairs is first in any case: that it leads is said in one of twenty."""
    cells = [cell for cell in EVERY if cell["workload"] == "varmail-sun14"][:6]
    same = synthetic.frame_of(cells, lambda cell: 1.0, lambda cell: 2.0, "modelled", scatter=0)
    alone = wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = same.copy()
        for name in ("work_ops", "energy_j"):
            table[name] = table[name] * np.exp(rng.normal(0, 0.05, len(table)))
        of = OfSimulatedDrive(table, 0.05, OF_PAPER.needs, "modelled", treatments=())
        chosen = contenders(of, "efficiency", cells, len(cells) - 1)
        alone += len(chosen) == 1
        wrong += len(chosen) < len(cells)
    assert alone <= 3
    assert wrong <= 6, "equals are ruled out no more often than the level of the test says"


def test_metrics_choose_different_pairs_only_where_intervals_tell_them_apart():
    """Pairs that are alike may be chosen by any metric: that decides nothing."""

    def watts(cell):
        return 1.0 if (cell["file_system"], cell["scheduler"]) == ("xfs", "none") else 2.0

    fast = {workload: ("ext2", "cfq") for workload in WORKLOADS}
    apart = source(lambda cell: 1.5 * led_by(fast)(cell) if led_by(fast)(cell) > 1 else 1.0, watts)
    assert verdict("s_single_metric", apart) == "reproduced"
    assert verdict("s_single_metric", alike()) == "inconclusive"


@cache
def told_apart():
    """A campaign in which metrics choose different pairs, and ext2 and ext3 lead on mail."""
    mail = {("ext2", "cfq"): 1.5, ("ext3", "none"): 1.6}
    web = {("xfs", "none"): 1.5}

    def levels(cell):
        return cell["workload"], (cell["file_system"], cell["scheduler"])

    def speed(cell):
        workload, names = levels(cell)
        if workload == "varmail-sun14":
            return mail.get(names, 1.1 if names[0] in ("ext2", "ext3") else 1.0)
        return web.get(names, 1.0)

    def watts(cell):
        workload, names = levels(cell)
        if workload == "varmail-sun14":
            return 1.0 if names == ("ext2", "cfq") else 2.0
        return 1.0 if names == ("nilfs2", "none") else 2.0

    return source(speed, watts)


@cache
def moving(series):
    """The same, but a cell of the mail server has no steady state."""
    trials = told_apart().trials.assign(steady_power="flat")
    ext2 = (trials["file_system"] == "ext2") & (trials["scheduler"] == "deadline")
    trials.loc[ext2 & (trials["workload"] == "varmail-sun14"), series] = "no steady state"
    return replace(told_apart(), trials=trials)


@pytest.mark.parametrize(
    ("series", "slug", "expected"),
    [
        ("steady", "s_vm_best", {"inconclusive"}),
        ("steady_power", "s_vm_best", {"inconclusive", "reproduced"}),
        ("steady", "s_vm_ext", {"inconclusive"}),
        ("steady_power", "s_vm_ext", {"inconclusive", "reproduced"}),
        ("steady", "s_single_metric", {"inconclusive", "reproduced"}),
        ("steady_power", "s_single_metric", {"inconclusive", "reproduced"}),
    ],
)
def test_a_rank_with_a_cell_that_moves_is_left_open(series, slug, expected):
    """A mean that only says how long was measured led, or lost, by chance."""
    assert {part.verdict for part in parts(slug, told_apart())} == {"reproduced"}
    assert {part.verdict for part in parts(slug, moving(series))} == expected


@pytest.mark.parametrize(("factor", "expected"), [(1.2, "reproduced"), (0.8, "not reproduced")])
def test_ext2_and_ext3_lead_on_mail_in_most_cases_or_not(factor, expected):
    """The verdict follows the share of cases."""

    def speed(cell):
        return factor if cell["file_system"] in ("ext2", "ext3") else 1.0

    assert verdict("s_vm_ext", source(speed)) == expected


def swinging(by, levels):
    """Trials in which power moves this much further at a level of a factor than elsewhere."""
    of = source(watts=lambda cell: 2.2 if cell["file_system"] == "ext3" else 2.0)
    luck = np.exp(np.random.default_rng(3).normal(0, 0.01, len(of.trials)))
    return replace(of, trials=of.trials.assign(power_range_w=luck * of.trials[by].map(levels)))


@pytest.mark.parametrize(("wider_x", "expected"), [(1.5, "reproduced"), (0.7, "reversed")])
def test_how_far_power_moves_is_judged_beside_how_high_it_is(wider_x, expected):
    """That ext2 varies less than ext3 was half of a claim, and nothing asked for it."""
    wider = dict.fromkeys(FILE_SYSTEMS, 1.0) | {"ext3": wider_x}
    found = parts("s_ext_overall", swinging("file_system", wider))
    moves = [part for part in found if "power_range_w" in part.what]
    assert len(moves) == len(found) / 2 == len(WORKLOADS) * len(SCHEDULERS)
    assert {part.verdict for part in moves} == {expected}
    assert {part.verdict for part in found if part not in moves} == {"reproduced"}


def test_how_far_modelled_power_moves_decides_nothing_of_a_real_drive():
    """Rule 19 was asked of metrics alone, and not of columns with watts."""
    simulated = swinging("file_system", dict.fromkeys(FILE_SYSTEMS, 1.0))
    real = Source(simulated.trials, 0.05, OF_PAPER.needs, "modelled", treatments=("file_system",))
    assert not any(part.tested for part in parts("s_ext_overall", real))
    assert {part.boundary for part in parts("s_ext_overall", simulated)} == {"modelled"}


@pytest.mark.parametrize(("wider_x", "expected"), [(2.0, "reproduced"), (0.8, "reversed")])
def test_swings_of_the_file_server_are_held_against_those_of_the_others(wider_x, expected):
    wider = {f"{workload}-sun14": 1.0 for workload in WORKLOADS} | {"fileserver-sun14": wider_x}
    assert verdict("s_fs_gc_swings", swinging("workload", wider)) == expected


def test_figures_have_the_published_values_of_table_3_beside_ours():
    """Open marks: watts of five file systems. A slowed drive does fewer operations."""
    cells = cells_table(trials(), synthetic.BOUNDS)
    drawn = by_pair(cells, "fileserver", Printed.load().table3)
    hollow = [
        sum(line.get_markerfacecolor() == "none" for line in axes.lines) for axes in drawn.axes
    ]
    assert hollow == [0, len(FILE_SYSTEMS), 0]
    named = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert len(named) == len(FILE_SYSTEMS), "a printed mark that nothing names"
    power = drawn.axes[1]
    open_at = [one.get_xdata()[0] for one in power.lines if one.get_markerfacecolor() == "none"]
    assert open_at[0] in power.containers[0].lines[0].get_xdata(), "ext2 has two places"
    assert "no trials" in by_pair(cells.head(0), "varmail").axes[0].texts[0].get_text()
    few = by_pair(cells_table(trials(blocks=1), synthetic.BOUNDS), "fileserver")
    assert drawn.get_supxlabel().startswith("95 % intervals; ")
    assert few.get_supxlabel().startswith("no interval: 1 trial; ")
