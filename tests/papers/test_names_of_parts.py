"""What papers' checks call their parts and how they bound them, over all studies that ship."""

import ast
from functools import partial
from itertools import product
from pathlib import Path
from zlib import crc32

import pytest
import servers
import synthetic
import synthetic_readers

from fsgreen import design, papers, stats
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims import source as of_claims
from fsgreen.analysis.claims.ledger import parts_of
from fsgreen.papers.fast10 import claims as fast10
from fsgreen.papers.massie25 import claims as massie25
from fsgreen.papers.massie25 import reference as fio
from fsgreen.papers.massie25.claims import RECOMPUTED as MASSIE25_RECOMPUTED
from fsgreen.papers.nfstricks03 import claims as nfstricks03
from fsgreen.papers.nfstricks03.published import RECOMPUTED as NFSTRICKS03_RECOMPUTED
from fsgreen.papers.nfstricks03.sources import Readers
from fsgreen.papers.sun14 import claims as sun14
from fsgreen.papers.sun14 import reference as ssd
from fsgreen.papers.sun14.published import RECOMPUTED as SUN14_RECOMPUTED

ROOM = Path(papers.__file__).parent


def speed_of(cell, luck):
    """A speed that depends on the cell and on luck, and on nothing that anyone claims."""
    return 1 + crc32(f"{luck} {cell!r}".encode()) / 2**32


def of_servers(claims, luck):
    speeds = {cell.label: speed_of(cell, luck) for cell in servers.CELLS}
    return servers.campaign(speed=speeds)


def of_readers(clock, claims, luck):
    return Readers.of(
        synthetic_readers.runs(clock=clock, seed=luck, scatter=0.3), 0.05, claims.needs
    )


def of_cells(cells, treatments, claims, luck):
    speed = partial(speed_of, luck=luck)
    trials = synthetic.frame_of(cells, speed, lambda cell: 2 * speed(cell), "wall", blocks=5)
    moves_w = trials["power_w"] / 10
    trials = trials.assign(allocation_groups_count=4.0, power_range_w=moves_w)
    return Source(trials, 0.05, claims.needs, "wall", treatments=treatments)


design.load_study("massie25")  # which declares factors of its own
REQUESTS = [
    fio.requests(*levels)
    for levels in product(fio.FILE_SYSTEMS, fio.PATTERNS, fio.REQUESTS_KIB, fio.PROCESSES)
]
PAIRS = [cell for workload in ssd.WORKLOADS for cell in ssd.pairs(workload)]
STUDIES = {
    "fast10": (servers.OF_PAPER, fast10.CHECKS, of_servers),
    **{
        f"nfstricks03, {clock}": (
            Claims.of("nfstricks03", nfstricks03.CHECKS, NFSTRICKS03_RECOMPUTED),
            nfstricks03.CHECKS,
            partial(of_readers, clock),
        )
        for clock in ("real time", "virtual time")
    },
    "massie25": (
        Claims.of("massie25", massie25.CHECKS, MASSIE25_RECOMPUTED),
        massie25.CHECKS,
        partial(of_cells, REQUESTS, ("file_system", "option")),
    ),
    "sun14": (
        Claims.of("sun14", sun14.CHECKS, SUN14_RECOMPUTED),
        sun14.CHECKS,
        partial(of_cells, PAIRS, ("file_system", "scheduler")),
    ),
}


def test_every_paper_is_looked_at():
    of_rooms = {file.parent.name for file in ROOM.glob("*/claims.yaml")}
    without_trials = {"greenfs08"}  # its parts have one source, so that their names always meet
    assert of_rooms - without_trials == {name.partition(",")[0] for name in STUDIES}


def remembered(method):
    """The method of a source, of which each answer is worked out once."""
    answers = {}

    def answer(source, *of):
        key = id(source), of
        if key not in answers:
            answers[key] = method(source, *of)
        return answers[key]

    return answer


def quick_effect(source, metric, subject, baseline, other_metric=None):
    above, below = (source.value(metric, subject), source.value(other_metric or metric, baseline))
    ratio = above.value / below.value
    return stats.Estimate(ratio, 0.98 * ratio, 1.02 * ratio, 5)


@pytest.fixture
def quick(monkeypatch):
    """Ratios whose intervals are made up: of thousands of parts the names are looked at."""
    for name in ("cell", "value"):
        monkeypatch.setattr(Source, name, remembered(getattr(Source, name)))
    monkeypatch.setattr(Source, "effect", quick_effect)
    monkeypatch.setattr(of_claims, "with_power", lambda part, bound: part)


@pytest.mark.parametrize("study", STUDIES)
def test_what_a_part_is_called_hangs_on_no_outcome(study, quick):
    """Else the same part of two campaigns stands in two rows of the ledger, and is never pooled."""
    claims, checks, campaign = STUDIES[study]
    one, other = (
        [
            (slug, part.what, part.published)
            for slug in claims.entries
            for part in parts_of(claims, slug, source, checks)
        ]
        for source in (campaign(claims, luck=luck) for luck in (1, 2))
    )
    assert one == other


def test_bounds_of_no_students_interval_say_so():
    """A range of trials or of cases was given as an interval, and would have been pooled as one."""
    for file in ROOM.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("Estimate"):
                value, low, high, *_ = (ast.unparse(argument) for argument in call.args)
                of_table = "row[" in value
                assert value == low == high or of_table, f"{file.name}:{call.lineno}"
