"""What forest plots share: an axis of ratios, and headings between the rows."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from fsgreen.figures.style import BEHIND_WORDS

FINE = (0.5, 0.6, 0.7, 0.85, 1, 1.2, 1.5, 2)
COARSE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def ratio_axis(axes: Axes, low: float, high: float, margin: float = 1.0) -> None:
    """Scale an axis for ratios from `low` to `high`, and a margin (a factor) beyond either end."""
    axes.axvline(1, color="black", linewidth=0.6)
    axes.set_xscale("log")
    axes.set_xlim(low / margin, high * margin)
    axes.xaxis.set_major_locator(FixedLocator(FINE if high < 4 * low else COARSE))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")


def heading(axes: Axes, place: int, text: str) -> None:
    """Write in a row what the rows below it have in common."""
    inside = axes.get_yaxis_transform()
    axes.text(
        *(0.01, place, text), transform=inside, va="center", fontweight="bold", bbox=BEHIND_WORDS
    )
