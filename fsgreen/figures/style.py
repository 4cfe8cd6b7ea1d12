"""One look for all figures: readable in print and without colour, the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, NamedTuple, ParamSpec

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.stats import MIN_BLOCKS
from fsgreen.words import plural

P = ParamSpec("P")

WIDTH_IN = 6.4
GREY = "#555555"
LETTERS_IN = 21
"""Letters of small print in an inch."""

TITLE_LINE_PT = 12
"""The height of a line of a title."""
POINTS_IN = 72

BEHIND_WORDS = {"facecolor": "white", "edgecolor": "none", "pad": 1}
"""The box of words inside of axes, which no line strikes."""


class Look(NamedTuple):
    """How a file system is drawn and called."""

    name: str
    colour: str
    marker: str
    hatch: str


LOOKS = {
    "ext2": Look("Ext2", "#E69F00", "^", "//"),
    "ext3": Look("Ext3", "#56B4E9", "v", "\\\\"),
    "ext4": Look("Ext4", "#0072B2", "o", ""),
    "reiserfs": Look("Reiserfs", "#CC79A7", "X", "xx"),
    "xfs": Look("XFS", "#009E73", "s", ".."),
    "btrfs": Look("Btrfs", "#D55E00", "D", "--"),
    "f2fs": Look("F2FS", "#8822CC", "<", "++"),
    "nilfs2": Look("NILFS2", "#772200", ">", "oo"),
}
"""A file system has one look in all figures, by colours that all eyes tell apart.

They are those of Okabe & Ito (2008), and two more, as their yellow is too light for lines.
"""

COLOUR = {name: look.colour for name, look in LOOKS.items()}


def look_of(file_system: str) -> Look:
    """Return a file system's look: grey and under the kernel's name if `LOOKS` has none for it.

    Such a one is measured where the testbed is a directory, of tmpfs or overlay for example.
    """
    return LOOKS.get(file_system, Look(file_system, GREY, "P", ""))


def in_order(file_systems: Iterable[str]) -> list[str]:
    """Return file systems as all figures show them, each once; those without a colour last."""
    shown = set(file_systems)
    return [*(name for name in LOOKS if name in shown), *sorted(shown - LOOKS.keys())]


def semantics(file_systems: Iterable[str]) -> dict[str, Any]:
    """Return how seaborn tells file systems apart as all figures do: by colour and marker.

    Keywords of `seaborn.relplot` and others for a table with the column `file_system`.
    """
    order = in_order(file_systems)
    looks = {name: look_of(name) for name in order}
    return {
        "hue": "file_system",
        "hue_order": order,
        "palette": {name: look.colour for name, look in looks.items()},
        "style": "file_system",
        "style_order": order,
        "markers": {name: look.marker for name, look in looks.items()},
    }


RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.formatter.limits": (-5, 9),
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "errorbar.capsize": 2,
    "svg.fonttype": "path",
    "svg.hashsalt": "fsgreen",
    "savefig.dpi": 150,
    "figure.constrained_layout.use": True,
}


NOTHING = "nothing-to-show"
"""What the axes of a figure are called that has nothing to show."""

UNDATED: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
"""What is left out of each kind of file, so that a figure has the same bytes each time."""

UNCORRECTED = "not corrected for their number"
"""What small print says of the intervals of comparisons, each of which is judged by itself."""


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw a figure in the common style, whatever style is set outside."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with matplotlib.rc_context(RC):
            return draw(*args, **kwargs)

    return drawn


def new(height_in: float, width_in: float = WIDTH_IN) -> Figure:
    """Return an empty figure of the width of a page's text."""
    return Figure(figsize=(width_in, height_in))


def roomy(figure: Figure) -> Figure:
    """Return the figure with room beside long labels.

    Letters are a little wider in the file than at the resolution of the layout.
    """
    figure.set_layout_engine("constrained", w_pad=0.2)
    return figure


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as SVG (letters as paths) and PNG, without dates; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{kind}" for kind in UNDATED]
    _write(figure, dict(zip(UNDATED, files, strict=True)))
    return files


def png(figure: Figure) -> bytes:
    """Return a figure as a PNG, for `IPython.display.Image` where no file is to be written."""
    written = io.BytesIO()
    _write(figure, {"png": written})
    return written.getvalue()


def _write(figure: Figure, outputs: Mapping[str, Path | io.BytesIO]) -> None:
    """Draw a figure once for each kind of output: with a layout engine matplotlib draws twice."""
    with matplotlib.rc_context(RC):
        if (engine := figure.get_layout_engine()) is not None:
            engine.execute(figure)
    with matplotlib.rc_context({**RC, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
        for kind, output in outputs.items():
            figure.savefig(output, format=kind, metadata=UNDATED[kind])


def empty(figure: Figure, text: str) -> Figure:
    """Return the figure with a sentence that says why there is nothing to show."""
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_gid(NOTHING)
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, wrap=True)
    return figure


def shows(file: Path) -> bool:
    """Return whether an SVG shows more than why there is nothing to show."""
    return not file.is_file() or f'id="{NOTHING}"' not in file.read_text(encoding="utf-8")


def note(figure: Figure, text: str) -> None:
    """Put small print under a figure, in lines that it has the width for."""
    letters = int(LETTERS_IN * figure.get_figwidth())
    lines = [fill(line, letters) for line in text.splitlines()]
    figure.supxlabel("\n".join(lines), fontsize=6.5, color=GREY, x=0.01, ha="left")


def intervals_of(
    lows: Iterable[float], counts: Iterable[float], of: Literal["block", "trial"] = "block"
) -> str:
    """Return what small print says of the intervals of some values.

    `lows` are their lower ends, NaN without an interval; `counts` of how many blocks, or trials,
    each value is.
    """
    if any(map(isfinite, lows)):
        return "95 % intervals"
    most = int(max(filter(isfinite, counts), default=0))
    return f"no interval: {plural(most, of)}" if 0 < most < MIN_BLOCKS else "no interval"


def modelled(axes: Axes, boundary: str, side: Literal["left", "right"] = "right") -> None:
    """Mark axes that have their title, if any, whose values rest on modelled power (rule 19)."""
    if boundary == "modelled":
        _mark(axes, "modelled power", side)


def simulated(axes: Axes) -> None:
    """Mark axes that have their title, if any, whose values are those of a simulated disk."""
    _mark(axes, "simulated disk", "right")


def labelled(figure: Figure, simulated: str | None) -> Figure:
    """Return the figure; what of it is simulated (`reduce.simulated`) stands in its title."""
    if simulated is not None:
        if title := figure.get_suptitle():
            figure.set_figheight(figure.get_figheight() + TITLE_LINE_PT / POINTS_IN)
            figure.suptitle(f"{title}\n({simulated})", fontsize=8, x=0.01, ha="left")
        else:
            figure.suptitle(simulated, fontsize=7, style="italic", x=0.99, ha="right")
    return figure


def say(axes: Axes, text: str, side: Literal["left", "right"], *, different: bool) -> None:
    """Print in an upper corner what was found, in bold if it is more than noise."""
    axes.text(
        0.02 if side == "left" else 0.99,
        0.98,
        text,
        transform=axes.transAxes,
        ha=side,
        va="top",
        fontsize=6.5,
        fontweight="bold" if different else "normal",
        color="black" if different else GREY,
    )


def _mark(axes: Axes, text: str, side: Literal["left", "right"]) -> None:
    """Put a mark above the axes and their title, where it covers no data."""
    title_lines = axes.get_title("left").count("\n") + 1 if axes.get_title("left") else 0
    axes.annotate(
        text,
        (0 if side == "left" else 1, 1),
        (3 if side == "left" else -3, 6 + TITLE_LINE_PT * title_lines),
        xycoords="axes fraction",
        textcoords="offset points",
        ha=side,
        va="bottom",
        fontsize=7,
        style="italic",
        bbox={"facecolor": "white", "edgecolor": GREY, "linewidth": 0.5, "pad": 2},
    )
