"""The steps from raw traces to the report, and those of a campaign that was just measured."""

from __future__ import annotations

from fsgreen import paths
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


def outcome_of(campaign: str) -> str:
    """Return what came of a campaign, as its last step wrote it, and where the report is."""
    folder = paths.results(campaign)
    return f"{(folder / 'outcome.txt').read_text()}\nreport: {folder / 'report.pdf'}"


def ledger_of(study: str) -> str:
    """Return what came of all campaigns of a study, and where its report is."""
    folder = paths.ledger(study)
    return f"{(folder / 'outcome.txt').read_text()}\nreport: {folder / 'report.pdf'}"
