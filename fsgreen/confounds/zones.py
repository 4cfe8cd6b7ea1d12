"""Zones of a disk: where its bandwidth changes along the offset, by changepoints."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from fsgreen import stats


def zones(curve: pd.DataFrame) -> pd.DataFrame:
    """Return a row per zone: where it begins and ends, and how fast it is.

    The medians of the places, in their order, are cut where a new mean begins
    (`stats.changepoints`: exact segmentation under the modified BIC), so that a zone narrower than
    three places is not seen. An edge lies between the last place of a zone and the first of the
    next; `edge_b` is the middle, and it may be `edge_error_b` to either side.

    `curve` has `offset_b`, `pass` and `bandwidth_b_s`, and may be empty. Returned are `begin_b`,
    `edge_error_b`, `end_b`, `places_count`, and `bandwidth_b_s` with its 95 % interval of Student
    (`bandwidth_low_b_s`, `bandwidth_high_b_s`), whose n is the places.
    """
    if curve.empty:
        return pd.DataFrame(columns=COLUMNS)
    medians = curve.groupby("offset_b")["bandwidth_b_s"].median()
    places = medians.index.to_numpy()
    edges = [0, *stats.changepoints(medians), len(medians)]
    rows = []
    for first, end in itertools.pairwise(edges):
        speed = stats.mean_ci(medians.iloc[first:end])
        begin_b, error_b = _edge(places, first)
        end_b, _ = _edge(places, end)
        rows.append((begin_b, error_b, end_b, end - first, speed.value, speed.low, speed.high))
    return pd.DataFrame(rows, columns=COLUMNS)


COLUMNS = [
    "begin_b",
    "edge_error_b",
    "end_b",
    "places_count",
    "bandwidth_b_s",
    "bandwidth_low_b_s",
    "bandwidth_high_b_s",
]


def with_zones(curve: pd.DataFrame) -> pd.DataFrame:
    """Return the curve with a column `place`: the zone, or the offset where there is one zone.

    Either is a text that says what it is.
    """
    of_disk = zones(curve)
    if len(of_disk) < 2:
        return curve.assign(place=[f"{offset_b / 2**20:.0f} MiB" for offset_b in curve["offset_b"]])
    begins_b = of_disk["begin_b"].to_numpy()
    numbers = np.searchsorted(begins_b, curve["offset_b"], side="right")
    return curve.assign(place=[f"zone {number}" for number in numbers])


def _edge(places: np.ndarray, index: int) -> tuple[float, float]:
    """Return the middle between two places, and half the way between them."""
    if index in (0, len(places)):
        return float(places[max(index - 1, 0)]), 0.0
    before, after = float(places[index - 1]), float(places[index])
    return (before + after) / 2, (after - before) / 2
