"""The pipeline on the shipped traces as its user runs it: the same bytes, from what is declared.

A push makes a small campaign once, stage by stage, and gives what came out to a clone, where DVC
compares it with what is recorded. `.ci/nightly` has the clone make every campaign.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import yaml

from fsgreen import papers, paths, schema
from fsgreen.claims import load_claims
from fsgreen.papers.fast10.reference import WORKLOADS
from fsgreen.pipeline import closure, pull
from fsgreen.pipeline.sources import Sources
from tests import clones
from tests.pipeline.declared import PARAMS, entries
from tests.pipeline.observed import Observed, observe
from tests.pipeline.told import says_what_came_out

NIGHTLY = "FSGREEN_NIGHTLY" in os.environ
SMALL = ("greenfs08",)
"""A campaign of few trials. Another of its study would differ in data alone."""

WHOLE = ["greenfs08"]
"""Its study. Its ledger is made with what git has of each other campaign, so that it is whole."""

OF_ALL = ("digest", "article")
"""The stages that rest on all studies."""

IDENTICAL = r"all \d+ outputs \(\d+ files\) are identical to those shipped; "
LEDGER_ALONE = (
    r"5 of \d+ outputs differ from those shipped; no number and no verdict of a claim does: "
    r"(data/ledgers/greenfs08/\S+, ){2}data/ledgers/greenfs08/\S+ and 2 more"
)
"""What a run says of its results; by day the clone's ledger lacks the study's other campaign."""

LOST = ("claims", "greenfs08")
"""The stage of which the clone has lost a result by day."""

pytestmark = pytest.mark.pipeline

every_campaign = pytest.mark.skipif(
    not NIGHTLY,
    reason="makes every campaign anew, for minutes: FSGREEN_NIGHTLY=1 ./run test -m pipeline",
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped traces of the small campaigns, beside which their results come.

    What each other campaign of their study says of claims is there, as git has it.
    """
    folder = tmp_path_factory.mktemp("data")
    (folder / "raw").mkdir()
    for campaign in SMALL:
        pull(campaign)
        (folder / "raw" / campaign).symlink_to(paths.root() / "data" / "raw" / campaign)
    for told in (paths.root() / "data" / "ledgers").glob("*/campaigns/*.csv"):
        study, name = told.parts[-3], told.stem
        if study in WHOLE and name in PARAMS and name not in SMALL:
            others = folder / "ledgers" / study / "campaigns"
            others.mkdir(parents=True, exist_ok=True)
            shutil.copy2(told, others)
    return folder


@pytest.fixture(scope="module")
def observed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Observed]:
    """Every stage of the small campaigns, run once; a warning of one is a failure."""
    return observe(SMALL, data, tmp_path_factory.mktemp("observed"))


def test_every_module_that_a_stage_imports_is_in_its_digest(observed: list[Observed]) -> None:
    sources = Sources()
    for campaign, stage, modules, _ in observed:
        listed = closure.digest(stage, PARAMS[campaign]["study"], sources)
        assert modules
        for module in modules:
            assert f"  {module.relative_to(paths.root())}\n" in listed, f"{stage}: {module}"


def test_every_file_that_a_stage_reads_is_declared(observed: list[Observed]) -> None:
    sources = Sources()
    for campaign, stage, _, opened in observed:
        listed = closure.digest(stage, PARAMS[campaign]["study"], sources)
        declared = [*entries(stage, "deps", campaign), *entries(stage, "outs", campaign)]
        if entries(stage, "params", campaign):
            declared.append("params.yaml")
        if f"data/results/{campaign}/raw.sha256" in declared:
            declared.append(f"data/raw/{campaign}")
        for name in opened:
            within = any(name == entry or name.startswith(f"{entry}/") for entry in declared)
            assert within or f"  {name}\n" in listed, f"{stage} reads {name}"


@pytest.mark.usefixtures("observed")
def test_a_ledger_over_several_campaigns_is_made_to_the_byte(data: Path) -> None:
    """Its report has its tables and figures, which `dvc.lock` knows as folders."""
    stages = schema.plain((paths.root() / "dvc.lock").read_text())["stages"]
    for study in WHOLE:
        outs = [out for out in stages[f"ledger@{study}"]["outs"] if "nfiles" not in out]
        names = {out["path"] for out in outs}
        assert names > {f"data/ledgers/{study}/{name}" for name in ("parts.csv", "report.pdf")}
        for out in outs:
            made = data / Path(out["path"]).relative_to("data")
            assert hashlib.md5(made.read_bytes()).hexdigest() == out["md5"], out["path"]


# --- in a clone ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of what is in the work tree now, all of it committed.

    By day its pipeline has the small campaigns only, with the results of `observed` in place.
    """
    folder = tmp_path_factory.mktemp("clone")
    clones.copy(folder)
    if not NIGHTLY:
        request.getfixturevalue("observed")
        made = request.getfixturevalue("data")
        for kept in ("results", "ledgers"):
            shutil.copytree(made / kept, folder / "data" / kept, dirs_exist_ok=True)
        small = {"campaigns": {campaign: PARAMS[campaign] for campaign in SMALL}, "studies": WHOLE}
        (folder / "params.yaml").write_text(yaml.safe_dump(small))
    clones.commit(folder)
    return folder


def in_clone(clone: Path, *command: str) -> str:
    """Run a command with the clone's code; return what it printed."""
    environment = clones.environment(clone)
    run = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout


@pytest.fixture(scope="module")
def reproduced(clone: Path) -> str:
    """What the pipeline prints when it makes in the clone what is missing there."""
    if not NIGHTLY:
        (clone / "data" / "results" / LOST[1] / "claims.csv").unlink()
    return in_clone(clone, sys.executable, "-m", "fsgreen", "reproduce")


def recorded(lock: str) -> dict[str, object]:
    """What a lock says of stages; by day of those alone that rest on one campaign."""
    stages: dict[str, dict[str, object]] = schema.plain(lock)["stages"]
    of_several = () if NIGHTLY else (*OF_ALL, "ledger")
    return {name: said for name, said in stages.items() if name.split("@")[0] not in of_several}


def test_a_clone_reproduces_every_result_to_the_byte(clone: Path, reproduced: str) -> None:
    """`dvc.lock` holds the hashes of the results: another byte would change it."""
    assert set(in_clone(clone, "git", "status", "--porcelain").splitlines()) <= {" M dvc.lock"}
    before, now = in_clone(clone, "git", "show", "HEAD:dvc.lock"), (clone / "dvc.lock").read_text()
    assert recorded(now) == recorded(before)
    ran = set(re.findall(r"\] (\w+)@(\S+) runs", reproduced))
    of_campaigns = product(set(closure.stages()) - {"ledger"}, PARAMS)
    of_studies = product(["ledger"], closure.studies())
    analysed = {*of_campaigns, *of_studies} if NIGHTLY else {LOST, ("ledger", LOST[1])}
    brought = PARAMS if NIGHTLY else SMALL
    assert ran == analysed | {("unpack", campaign) for campaign in brought}
    for campaign in brought:
        assert f"raw traces of {campaign}: fetching" in reproduced
        report = clone / "data" / "results" / campaign / "report.pdf"
        assert report.read_bytes().startswith(b"%PDF")
    answer = reproduced.rpartition("\n\n")[2].splitlines()
    assert len(answer) <= 10 and answer[0].startswith("Do the published claims hold?")
    assert re.match(IDENTICAL if NIGHTLY else LEDGER_ALONE, answer[-2])
    for study in filter(papers.has_room, closure.studies() if NIGHTLY else WHOLE):
        counts = next(line for line in answer if line.startswith(f"{study}  ")).split()[1:]
        total, *each = map(int, counts)
        assert total == sum(each) == len(load_claims(study))


@pytest.mark.usefixtures("reproduced")
def test_what_came_of_a_campaign_is_one_command_away(clone: Path) -> None:
    shown = in_clone(clone, sys.executable, "-m", "fsgreen", "outcome")
    for campaign in PARAMS if NIGHTLY else SMALL:
        results = clone / "data" / "results" / campaign
        assert (results / "outcome.txt").read_text() in shown
        assert f"\nreport: {results / 'report.pdf'}\n" in shown
    for said in ("verdicts on 71 claims", "Of 52 rules", "\n  the others ("):
        assert said in shown, f"nothing is said of: {said}"


@every_campaign
@pytest.mark.usefixtures("reproduced")
def test_every_campaign_says_what_its_user_wants_to_know(clone: Path) -> None:
    shown = in_clone(clone, sys.executable, "-m", "fsgreen", "outcome")
    for said in ("options against the file system's default, published", "what to change from"):
        assert said in shown, f"nothing is said of: {said}"
    for campaign in PARAMS:
        notebooks = sorted((clone / "data" / "results" / campaign / "notebooks").glob("*.ipynb"))
        assert {file.stem for file in notebooks} >= set(paths.ANALYSIS)
        for file in notebooks:
            for cell in nbformat.read(file, as_version=4).cells:
                warned = [o for o in cell.get("outputs", []) if o.get("name") == "stderr"]
                assert not warned, f"{file.stem}: {warned[0].text}"


@every_campaign
@pytest.mark.usefixtures("reproduced")
def test_the_documents_say_and_show_what_comes_out(clone: Path) -> None:
    """Numbers and pictures that were copied into a text grow old without anybody noticing."""
    docs, results = clone / "docs", clone / "data" / "results"
    for shown, figure in {
        "fast10-fig1": results / "fast10" / "figures" / "fig1.png",
        "fast10-options": results / "fast10-options" / "figures" / "fig_options.png",
        "fast10-options-disk": results / "fast10-options-disk" / "figures" / "fig_options.png",
    }.items():
        assert (docs / f"{shown}.png").read_bytes() == figure.read_bytes()
    text = (docs / "since2010.md").read_text()
    assert "none is corrected for their number" in " ".join(text.split())
    *texts, of_database = re.split("\n## On a disk(?: that turns)?\n", text)
    says_what_came_out(of_database, results / "fast10-database")
    for campaign, text in zip(("fast10-options", "fast10-options-disk"), texts, strict=True):
        now = pd.read_csv(results / campaign / "tables" / "then_and_now.csv", dtype=str)
        outside = (now["the published number is"] == "outside").sum()
        one_line = " ".join(text.split())
        assert f"Of these {len(now)} published numbers {outside} lie" in one_line
        says_what_came_out(text, results / campaign)
        effects = pd.read_csv(results / campaign / "effects.csv")
        effects = effects[effects["metric"] == "throughput"]
        none = f"None of the {len(effects)} comparisons of throughput could be called equal"
        assert (none in one_line) == (effects["outcome"] != "equivalent").all()
        if campaign == "fast10-options":
            table = pd.read_csv(results / campaign / "recommended.csv")
            sure = table[(table["metric"] == "throughput") & (table["verdict"] == "gain")]
            counted = {2: "two", 3: "three", 4: "four"}[len({*sure["workload"]} & {*WORKLOADS})]
            assert f"is left on {counted} of the four" in one_line
            readme = " ".join((clone / "README.md").read_text().split())
            assert f"{outside} of {len(now)} published effects" in readme


@every_campaign
@pytest.mark.usefixtures("reproduced")
@pytest.mark.parametrize(
    ("campaign", "section"),
    [
        ("linux-read-ahead", "## What comes after 2003"),
        ("linux-io-uring", "### Several reads in flight"),
        ("linux-nfs", "### NFS with several connections"),
    ],
)
def test_the_guide_to_reading_ahead_says_what_came_of_linux(
    clone: Path, campaign: str, section: str
) -> None:
    """Its tables have every part that was judged."""
    guide = (clone / "docs" / "readahead.md").read_text()
    text, *_ = guide.partition(f"\n{section}\n")[2].partition("\n##")
    parts = pd.read_csv(clone / "data" / "results" / campaign / "claim_parts.csv")
    judged = parts.dropna(subset="ours")
    told = re.findall(r"\| ([\d.]+x \[.*?\]) \| (.+?) \|\n", text)
    assert told == judged[["ours", "verdict"]].to_records(index=False).tolist()


@every_campaign
@pytest.mark.usefixtures("reproduced")
def test_what_the_guide_says_of_the_discarded_block_is_in_the_table(clone: Path) -> None:
    """It said that the block was slow by one factor, and that no verdict rests on it."""
    effects = pd.read_csv(clone / "data" / "results" / "fast10" / "effects.csv")
    speed = effects[(effects["metric"] == "throughput") & effects["first_outcome"].notna()]
    turned = speed[speed["outcome"] != speed["first_outcome"]]
    assert {*turned["first_outcome"]} == {"inconclusive"}
    lost = turned[turned["outcome"] == "different"]
    assert lost[["workload", "file_system", "option"]].to_numpy().tolist() == [
        ["oltp", "ext3", "dtlg"]
    ]
    word = {4: "four", 5: "five", 6: "six"}[int((turned["outcome"] == "equivalent").sum())]
    text = " ".join((clone / "docs" / "trust.md").read_text().split())
    assert f"With the first measurements {word} comparisons turn from equivalent" in text
    assert "ext3 with `data=journal` no longer differs on oltp" in text


@every_campaign
@pytest.mark.usefixtures("reproduced")
def test_every_effect_that_differs_between_memory_and_disk_is_named(clone: Path) -> None:
    """ "As in RAM" is said of all others."""
    of = ["workload", "file_system", "option"]
    ram, disk = (
        pd.read_csv(clone / "data" / "results" / campaign / "effects.csv")
        .query("kind == 'option' and metric == 'throughput'")
        .set_index(of)
        for campaign in ("fast10-options", "fast10-options-disk")
    )
    apart = (ram["ratio_low_x"] > disk["ratio_high_x"]) | (
        ram["ratio_high_x"] < disk["ratio_low_x"]
    )
    text = (clone / "docs" / "since2010.md").read_text().partition("\n## On a disk\n")[2]
    unnamed = [names for names in apart[apart].index if f"| {' | '.join(names)} |" not in text]
    assert not unnamed


@pytest.mark.usefixtures("reproduced")
def test_a_second_run_does_nothing(clone: Path) -> None:
    """Its user would wait minutes for results that are there."""
    shown = in_clone(clone, sys.executable, "-m", "fsgreen", "reproduce")
    assert shown.startswith("nothing is out of date\n")
    assert " runs" not in shown


BEHIND = """
import json, sys
from pathlib import Path
from fsgreen.pipeline import write_digests
from fsgreen.pipeline.ledger import Ledger
behind = {}
for file in map(Path, sys.argv[1:]):
    before = file.read_text()
    file.write_text(before + "\\n# edited\\n")
    write_digests()
    file.write_text(before)
    with Ledger.opened() as ledger:
        names = [name.split("@") for name in ledger.out_of_date()]
    behind[str(file)] = sorted({stage for stage, *of in names if of})
print(json.dumps(behind))
"""

EDITED = {
    "fsgreen/papers/greenfs08/figures.py": ["figures", "ledger", "paper"],
    "fsgreen/papers/greenfs08/claims.py": ["claims", "ledger"],
}
"""Modules, and the stages that run them."""


@pytest.mark.usefixtures("reproduced")
def test_an_edit_runs_only_what_depends_on_it(clone: Path) -> None:
    """The paper follows only if its figures or verdicts come out as other bytes."""
    behind = in_clone(clone, sys.executable, "-c", BEHIND, *EDITED)
    assert json.loads(behind.splitlines()[-1]) == EDITED
