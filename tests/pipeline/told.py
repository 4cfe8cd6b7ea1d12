"""Numbers that a person typed into a document, held against the tables that they are from."""

import re
from pathlib import Path

import pandas as pd


def percents(parts: pd.DataFrame) -> list[str]:
    """Ratios of parts in percent, also of those that were in another state than the claim's."""
    ratios = parts[["ours_x", "ours_low_x", "ours_high_x"]].astype(float).dropna()
    changes = (100 * (ratios - 1)).to_numpy().tolist()
    return [f"{ours:+.0f} % [{low:+.0f}, {high:+.0f}]" for ours, low, high in changes]


def says_what_came_out(text: str, results: Path) -> None:
    """Look for the rows of a text, and for its changes with an interval, in the tables."""
    now, parts, advice = (
        pd.read_csv(results / f"{name}.csv", dtype=str)
        for name in ("tables/then_and_now", "claim_parts", "tables/advice")
    )
    told = [line.strip("| ").split(" | ") for line in text.splitlines() if " | [" in line]
    rows = now[list(now)[:6]].to_numpy().tolist()
    assert len(told) > 5 and all(row in rows for row in told)
    found = {*parts["ours"], *advice["throughput"], *percents(parts)}
    assert set(re.findall(r"[+-]\d+ % \[.*?\]", " ".join(text.split()))) <= found
