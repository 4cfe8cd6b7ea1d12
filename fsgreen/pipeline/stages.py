"""The steps from raw traces to the report, and those of a campaign that was just measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fsgreen import absence, paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import params
from fsgreen.pipeline.notebook import run_notebook


def campaigns() -> list[str]:
    """Return the names of the campaigns that the pipeline analyses, as `params.yaml` has them."""
    return list(params.campaigns())


def after_measure(campaign: str) -> None:
    """Analyse a campaign that was just measured, up to its report.

    One that the pipeline analyses is left to it, so that no result appears behind its back.
    """
    if campaign in campaigns():
        print(
            f"{campaign} is analysed by the pipeline: fsgreen pack {campaign} && dvc repro "
            f"plan@{campaign} && dvc commit -f collect@{campaign}, then fsgreen reproduce; "
            "dvc push to ship its traces"
        )
        return
    for name in paths.ANALYSIS:
        run_notebook(name, {"campaign": campaign})
    print("\n" + outcome_of(campaign))


def outcomes(campaign: str | None = None) -> Iterator[str]:
    """Yield what came of a campaign or a study, or of all that the pipeline analyses.

    Raises FsgreenError if there is no such campaign or study, or it has not been analysed.
    """
    if campaign is None:
        names, studies = [*campaigns()], [*params.studies()]
    elif campaign in params.studies() and campaign not in campaigns():
        names, studies = [], [campaign]
    else:
        names, studies = [campaign], []
    yield from map(outcome_of, names)
    for study in studies:
        yield _outcome(paths.ledger(study), "./run reproduce")


def outcome_of(campaign: str) -> str:
    """Return what came of a campaign, as its last step wrote it, and where the report is.

    Raises FsgreenError if there is no such campaign, or it has not been analysed.
    """
    folder = paths.results(campaign)
    if not folder.is_dir():
        raise absence.unknown_campaign(campaign)
    return _outcome(folder, absence.made_anew(campaign))


def _outcome(folder: Path, made_anew: str) -> str:
    file = folder / "outcome.txt"
    if not file.is_file():
        raise FsgreenError("its report has not been made", where=file, next_step=made_anew)
    return f"{file.read_text()}\nreport: {folder / 'report.pdf'}"
