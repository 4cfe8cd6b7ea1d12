"""How wrong the model is for workloads that it has not seen, over a measured campaign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fsgreen import trial
from fsgreen.campaign.state import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.meters.modelled import Profile
from fsgreen.trace import MeterInfo

if TYPE_CHECKING:
    import pandas as pd

WINDOW_S = 5.0
"""Length of the pieces that a measured interval is cut into: a row of the fit each."""


def model_error(name: str) -> pd.DataFrame:
    """Predict the power of each workload of a campaign by a model fitted to its other workloads.

    Activity is from `host.parquet`, power the total of all meters. Columns as `prediction_errors`,
    and `boundary`: where that is `modelled`, the result tests the fit and no machine.

    Raises FsgreenError if there is no such campaign, or it has too few trials or workloads.
    """
    from fsgreen.meters.modelled.fit import leave_one_out

    trials, infos = _trials(name)
    resolution_w = max(info.resolution_w for info in infos)
    errors = leave_one_out(campaign_table(trials), resolution_w=resolution_w)
    return errors.assign(boundary=infos[0].boundary)


def profile_error(models: Sequence[Profile], name: str) -> pd.DataFrame:
    """Predict the power of each workload of a campaign by profiles whose power adds up.

    Columns as those of `model_error`. Raises FsgreenError if there is no such campaign, or if the
    profiles do not cover the parts that its meters did.
    """
    import numpy as np

    from fsgreen.meters.modelled.table import predict_w, prediction_errors

    trials, infos = _trials(name)
    measured = {part for info in infos for part in info.covers}
    covered = {part for model in models for part in model.covers}
    if measured != covered:
        raise FsgreenError(
            f"the profiles cover {', '.join(sorted(covered))}, but the meters of the campaign "
            f"covered {', '.join(sorted(measured))}",
            where=Campaign(name).folder,
            next_step="name a campaign that was measured with the meters of this testbed file",
        )
    table = campaign_table(trials)
    predicted_w = np.sum([predict_w(model, table) for model in models], axis=0)
    errors = prediction_errors(table, predicted_w)
    return errors.assign(boundary=infos[0].boundary)


def _trials(name: str) -> tuple[list[trial.Trial], list[MeterInfo]]:
    trials = trial.list_trials(Campaign(name).folder)
    if not trials:
        Campaign(name).plan()  # raises where there is no such campaign
        raise FsgreenError(
            "the campaign has no trial whose power could be predicted",
            where=Campaign(name).folder,
            next_step=f"fsgreen status {name}",
        )
    return trials, list(trials[0].record.meters.values())


def campaign_table(trials: list[trial.Trial]) -> pd.DataFrame:
    """Return the table of a fit: a row for every `WINDOW_S` of each trial's measured interval."""
    import pandas as pd

    from fsgreen.meters.modelled.table import activity_table

    tables = []
    for measured in trials:
        power = measured.table("power")
        traces = [power[power["meter"] == name] for name in measured.record.meters]
        spans = [
            (str(measured.record.cell["workload"]), start_s, end_s)
            for phase in measured.measured
            for start_s, end_s in _pieces(phase)
        ]
        tables.append(activity_table(traces, measured.table("host"), spans))
    return pd.concat(tables, ignore_index=True)


def _pieces(phase: trial.Phase) -> Iterator[tuple[float, float]]:
    """Yield begin and end of equal pieces of a phase, of about `WINDOW_S` each."""
    count = max(1, int(phase.duration_s / WINDOW_S))
    length_s = phase.duration_s / count
    for nth in range(count):
        yield phase.start_s + nth * length_s, phase.start_s + (nth + 1) * length_s
