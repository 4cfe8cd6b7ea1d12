"""The steps from raw traces to the report: all campaigns through DVC, or one just measured."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

import yaml

from fsgreen import paths
from fsgreen.design import Plan
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError
from fsgreen.pipeline.notebook import run_notebook
from fsgreen.pipeline.outcome import outcome

ANALYSIS = (
    "40_reduce",
    "50_confounds",
    "60_analyse",
    "66_interactions",
    "70_figures",
    "80_claims",
)
"""The notebooks that take a campaign from raw traces to claims, in their order."""

NOISE = ("> ", "\t", "To ", "Use `dvc", "Updating lock file", "Generating lock file")
"""How the lines of `dvc repro` begin that tell a reader nothing."""


def campaigns() -> list[str]:
    """Return the campaigns that the pipeline analyses, as `params.yaml` lists them."""
    return list(yaml.safe_load((paths.root() / "params.yaml").read_text())["campaigns"])


def step(campaign: str, name: str) -> ModuleType:
    """Return a step as the study of a campaign does it: `fsgreen.papers.STUDY.NAME`.

    Raises
    ------
    FsgreenError
        If there is no such campaign, or no analysis of its study.
    """
    from fsgreen.reduce import read_plan

    study = read_plan(campaign).study
    check_analysed(study)
    return importlib.import_module(f"fsgreen.papers.{study}.{name}")


def check_analysed(study: str) -> None:
    """Raise `FsgreenError` if no analysis of a study is in `fsgreen/papers`."""
    if importlib.util.find_spec(f"fsgreen.papers.{study}") is None:
        raise FsgreenError(
            f"nothing analyses a study of the name {study}",
            where="fsgreen/papers",
            next_step="copy one that is analysed, such as studies/fast10.yaml, to a file of your "
            "own, and keep its line `study: fast10`",
        )


def after_measure(campaign: str) -> None:
    """Analyse a campaign that was just measured, up to its report.

    One that the pipeline analyses is left to it, so that no result appears behind its back.
    """
    from fsgreen import report

    if campaign in campaigns():
        print(
            f"{campaign} is analysed by the pipeline. To ship it: dvc repro plan@{campaign} && "
            f"dvc commit -f collect@{campaign} && dvc push, then ./run reproduce"
        )
        return
    for name in ANALYSIS:
        run_notebook(name, {"campaign": campaign})
    report.write(campaign)
    print("\n" + outcome(campaign))


def reproduce() -> None:
    """Run what is out of date in the pipeline, then show the verdicts and where the report is.

    Raises
    ------
    FsgreenError
        If the raw traces cannot be had, or a stage fails.
    """
    for campaign in campaigns():
        pull(campaign)
    _repro()
    for campaign in campaigns():
        _compare_plans(campaign)
        print("\n" + outcome(campaign))


def pull(campaign: str) -> None:
    """Put the raw traces of a campaign of the pipeline in place, out of the store that ships.

    Raises
    ------
    FsgreenError
        If the store lacks some, or traces that were changed by hand are in the way.
    """
    print(f"raw traces of {campaign}: fetching what is missing from data/store", flush=True)
    with _dvc("pull", f"collect@{campaign}") as process:
        failed = process.wait()
    if failed:
        raise FsgreenError(
            f"the raw traces of {campaign} could not be put in place (see above)",
            where=paths.raw(campaign),
            next_step="wait for another ./run reproduce, if there is one; else git checkout -- "
            f"data/store; if you changed {paths.raw(campaign)}, move it",
        )


def _repro() -> None:
    stages = _stage_count()
    seen, ran, begin_s = 0, 0, time.monotonic()
    with _dvc("repro", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if match := re.match(r"(Running stage|Stage) '([^']+)'", line):
                seen += 1
                state = "is up to date"
                if match[1] == "Running stage":
                    state = "runs" + _to_go(time.monotonic() - begin_s, ran, stages - seen + 1)
                    ran += 1
                print(f"[{seen}/{stages}] {match[2]} {state}", flush=True)
            elif line.strip() and not line.startswith(NOISE):
                print(line, end="", flush=True)
    if process.returncode:
        raise FsgreenError(
            "the pipeline stopped (see above); what was done before is kept",
            where=paths.root() / "dvc.yaml",
            next_step="mend that, then ./run reproduce",
        )


def _to_go(elapsed_s: float, ran: int, left: int) -> str:
    """Say how long the stages that are left take, by the pace of those that ran."""
    return f"; about {spell(elapsed_s / ran * left)} to go" if ran else ""


@contextmanager
def _dvc(*arguments: str, stdout: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """Give a running DVC, which has ended afterwards, with its stage, whatever ends the use."""
    # The stages name folders of this checkout, wherever FSGREEN_DATA points.
    environment = {key: value for key, value in os.environ.items() if key != "FSGREEN_DATA"}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    with subprocess.Popen(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=paths.root(),
        env=environment,
        stdout=stdout,
        text=True,
        process_group=0,
    ) as process:
        try:
            yield process
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            if process.stdout is not None:
                process.stdout.read()  # ends with the last of them
            process.wait()
            raise


def _stage_count() -> int:
    stages = yaml.safe_load((paths.root() / "dvc.yaml").read_text())["stages"].values()
    return sum(len(campaigns()) if "foreach" in stage else 1 for stage in stages)


def _compare_plans(campaign: str) -> None:
    """Say so if the study was declared anew since the campaign was measured."""
    files = [folder(campaign) / "plan.json" for folder in (paths.results, paths.raw)]
    declared, measured = (Plan.from_json(json.loads(file.read_text()), file) for file in files)
    if lines := declared.difference(measured):
        print(f"\nnote: {campaign} was measured under another plan than its study declares now:")
        print("\n".join(f"  {line}" for line in lines[:8]))
        print(f"  next: undo the change, or ./run measure {measured.study} --name ANOTHER")
