"""Table 1 of sun14 on models of its drives: by construction, with print's contradictions kept."""

import dataclasses

import pandas as pd
import pytest

from fsgreen.analysis.claims import Claims
from fsgreen.analysis.claims.ledger import VIRTUAL, judge_claims
from fsgreen.claims import combine
from fsgreen.errors import FsgreenError
from fsgreen.papers.sun14 import virtual
from fsgreen.papers.sun14.claims import CHECKS, models_of
from fsgreen.papers.sun14.drives import Drives
from fsgreen.papers.sun14.published import RECOMPUTED
from fsgreen.papers.sun14.reference import DRIVES, PAPER, Printed

OF_PAPER = Claims.of(PAPER, CHECKS, RECOMPUTED)


@pytest.fixture(scope="module")
def models() -> Drives:
    """The tables that ship."""
    return models_of(OF_PAPER)[VIRTUAL]


def judged(models: Drives, slug: str):
    ledger = judge_claims(OF_PAPER, {VIRTUAL: models}, CHECKS, RECOMPUTED, Printed.load())
    return ledger[slug]


@pytest.mark.parametrize("drive", DRIVES)
def test_the_tables_that_ship_are_of_drives_as_table_1_prints_them(models, drive: str) -> None:
    """Who takes one of these disks takes it for the drive of the paper."""
    row = models.simulated.drives.set_index("drive").loc[drive]
    printed = models.printed.table1.loc[drive]
    assert row["write_b_s"] == pytest.approx(printed["write_mb_s"] * 1e6, rel=0.01)
    assert row["read_b_s"] == pytest.approx(printed["read_mb_s"] * 1e6, rel=0.08)
    assert row["read_b_s"] < row["read_at_once_b_s"]
    assert row["work_w"] == pytest.approx(printed["work_power_w"], rel=0.1)
    assert row["idle_w"] == printed["idle_power_w"]


@pytest.mark.parametrize("slug", ["s_t1_ssd_i", "s_t1_ssd_s", "s_t1_ssd_k"])
def test_what_the_model_was_made_to_do_is_by_construction(models, slug: str) -> None:
    parts = judged(models, slug)
    assert [part.verdict for part in parts].count("by construction") == 5
    assert any(part.needs == OF_PAPER.needs["dram"] for part in parts if not part.tested)


def test_a_model_that_is_off_is_no_construction(models) -> None:
    """A wrong fit would otherwise ship as one that was made so."""
    slow = models.simulated.drives.assign(write_b_s=lambda table: table["write_b_s"] * 0.8)
    simulated = dataclasses.replace(models.simulated, drives=slow)
    off = dataclasses.replace(models, simulated=simulated)
    assert combine(judged(off, "s_t1_ssd_i"))[0] == "not reproduced"


@pytest.mark.parametrize("slug", ["s_t1_ssd_s", "s_t1_ssd_k"])
def test_contradictions_of_print_stand_beside_the_model(models, slug: str) -> None:
    """Power at work below that at rest is the paper's own, whatever a model does."""
    own = [part for part in judged(models, slug) if part.basis == "published"]
    assert own and any(part.verdict == "not reproduced" for part in own)


def test_random_writes_of_a_new_drive_are_slower_and_reads_are_not(models) -> None:
    reads, writes, power = judged(models, "s_hw_gap")
    assert (reads.verdict, writes.verdict) == ("by construction", "reproduced")
    assert writes.basis == "simulated"
    assert not power.tested and power.needs == OF_PAPER.needs["ssd-micro"]


def test_other_claims_have_no_part_of_a_model(models) -> None:
    """A check of trials that took models would end in a traceback."""
    ledger = judge_claims(OF_PAPER, {VIRTUAL: models}, CHECKS, RECOMPUTED, Printed.load())
    ours = {slug for slug, parts in ledger.items() if any(part.virtual for part in parts)}
    assert ours == {"s_t1_ssd_i", "s_t1_ssd_s", "s_t1_ssd_k", "s_hw_gap"}


def test_the_tables_are_what_the_simulator_makes(models) -> None:
    """Nobody could make them again."""
    pytest.importorskip("fsgreen_engine")
    made = pd.DataFrame(virtual._drives())
    pd.testing.assert_frame_equal(models.simulated.drives, made, check_exact=False)


def test_a_name_of_a_campaign_is_refused() -> None:
    with pytest.raises(FsgreenError, match="belongs to no campaign, not to mine"):
        virtual.simulate(PAPER, "quick", "mine")
