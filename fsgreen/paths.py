"""Where things are, independent of the directory that a notebook or a test runs in."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen import scratch
from fsgreen.errors import FsgreenError, unknown

if TYPE_CHECKING:
    from fsgreen.paramsfile import Shipped

_CODE = Path(__file__).resolve().parents[1]

MARKER = ".fsgreen-data"
"""The file that shows that a data folder is fsgreen's although it holds other things."""

OWN = frozenset(
    {
        *("raw", "packed", "results", "ledgers", "article", "scratch", "reference", "virtual"),
        *("store", "engine", "engine.dvc", "fleet"),
    }
)
"""What fsgreen keeps in a data folder: one that holds nothing else needs no mark."""

PLAN, IDENTITY, RECORD = "plan.json", "campaign.json", "trial.json"
"""Files of a campaign: the plan of its trials, what it is measured on, and what a trial was."""

ANALYSIS = (
    "40_reduce",
    "50_confounds",
    "60_analyse",
    "66_interactions",
    "70_figures",
    "80_claims",
    "90_report",
)
"""The notebooks that take a campaign from raw traces to its report, in their order."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def code() -> Path:
    """Return the folder that holds the package: the checkout, or where it is installed."""
    return _CODE


def shipped() -> Path:
    """Return the folder of the notebooks, the pipeline and the texts that belong to the package.

    In a checkout it is that; a wheel has them beside the modules.
    """
    inside = _CODE / "fsgreen" / "shipped"
    return inside if inside.is_dir() else _CODE


@cache
def root() -> Path:
    """Return the folder of the project: the nearest one around the working directory.

    A project has a folder `studies` beside its `params.yaml`, as `fsgreen new --project` makes it.
    Outside of any it is the checkout.

    Raises FsgreenError if there is neither.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:  # somebody removed it
        here = _CODE
    for folder in (here, *here.parents, _CODE):
        if (folder / "params.yaml").is_file() and (folder / "studies").is_dir():
            return folder
    raise FsgreenError(
        "this folder belongs to no project",
        where=here,
        next_step="cd to yours, or make one: fsgreen new --project FOLDER",
    )


def data() -> Path:
    """Return the data folder; the variable FSGREEN_DATA moves raw data and results elsewhere.

    Raises FsgreenError if that folder holds something, and nothing shows that it is fsgreen's.
    """
    return _own(data_folder()) if os.environ.get("FSGREEN_DATA") else data_folder()


def data_folder() -> Path:
    """Return the data folder, whatever it holds."""
    moved = os.environ.get("FSGREEN_DATA")
    return Path(moved).resolve() if moved else root() / "data"


def _own(folder: Path) -> Path:
    """Return a folder once it shows that it is fsgreen's, or that it is nobody's yet."""
    names: set[str] = set()
    if folder.exists():
        names = set(os.listdir(folder)) if folder.is_dir() else {"a file"}
    if names - OWN and MARKER not in names:
        raise FsgreenError(
            f"this is no data folder of fsgreen: it holds {', '.join(sorted(names - OWN)[:3])}",
            where=folder,
            next_step="name an empty folder or a new one: FSGREEN_DATA=FOLDER; if it is "
            f"fsgreen's all the same: touch {folder / MARKER}",
        )
    return folder


def raw(campaign: str) -> Path:
    """Return the folder of the raw traces of a campaign."""
    return data() / "raw" / checked(campaign)


def packed(campaign: str) -> Path:
    """Return the file that the raw traces of a campaign are packed into."""
    return data() / "packed" / f"{checked(campaign)}.tar.xz"


def results(campaign: str) -> Path:
    """Return the folder of everything that is computed from a campaign.

    To a notebook that a person runs, for a campaign that the pipeline analyses, that is a copy in
    `data/scratch`, so that looking and trying change no shipped result. The variable
    FSGREEN_OVERWRITE, if it is set, lets it write to the results.
    """
    folder = data() / "results" / checked(campaign)
    if scratch.in_a_kernel() and not _overwrites() and ships(campaign):
        return scratch.copied(folder, data() / "scratch" / folder.name)
    return folder


def cached() -> Path:
    """Return the folder of what can be made again: fsgreen in $XDG_CACHE_HOME or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fsgreen"


def free_b(folder: Path) -> int:
    """Return the bytes that are free where a folder is, or would be made."""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    return shutil.disk_usage(existing).free


def ships(campaign: str) -> bool:
    """Return whether the pipeline analyses a campaign: `params.yaml` names it."""
    return campaign in shipped_campaigns()


def has_campaign(study: str) -> bool:
    """Return whether the pipeline analyses a campaign of a study."""
    return study in {entry.study for entry in shipped_campaigns().values()}


def shipped_campaigns() -> Mapping[str, Shipped]:
    """Return the campaigns that the pipeline analyses, by name."""
    from fsgreen import paramsfile  # what reads it takes longer to import than all else here

    _, declared = paramsfile.read(root() / "params.yaml")
    return declared.campaigns


def ledger(study: str) -> Path:
    """Return the folder of what the campaigns of a study say together.

    To a notebook that a person runs, that is one in `data/scratch`.
    """
    kept = _overwrites() or not scratch.in_a_kernel()
    return (data() if kept else data() / "scratch") / "ledgers" / checked(study, "study")


def told(study: str, campaign: str, *, shipped: bool) -> Path:
    """Return the file of what a campaign says of the claims of its study.

    Those of campaigns that the pipeline analyses are apart from others, on which nothing that
    ships may rest.
    """
    folder = "campaigns" if shipped else "own"
    return data() / "ledgers" / checked(study, "study") / folder / f"{checked(campaign)}.csv"


def virtual(study: str) -> Path:
    """Return the folder of what models of a study say in virtual time.

    It is the one that was made in this data folder, else the one that belongs to the package.
    """
    own = own_virtual(study)
    return own if own.is_dir() else shipped() / "data" / "virtual" / study


def own_virtual(study: str) -> Path:
    """Return where models of a study are run in virtual time; git keeps that of a checkout."""
    return data() / "virtual" / checked(study, "study")


def exhibits(study: str) -> Path:
    """Return the folder of what the campaigns of a study that ship give to the paper over all."""
    return data() / "ledgers" / checked(study, "study") / "exhibits"


def article() -> Path:
    """Return the folder of the paper over all studies."""
    return data() / "article"


def reference() -> Path:
    """Return the folder of the published numbers and claims."""
    return shipped() / "data" / "reference"


def notebooks() -> Path:
    """Return the folder of the notebooks that belong to the package."""
    return shipped() / "notebooks"


def notebook(name: str) -> Path:
    """Return the file of a notebook: the project's own of that name, else that of the package."""
    own = root() / "notebooks" / f"{name}.ipynb"
    return own if own.is_file() else notebooks() / f"{name}.ipynb"


def texts(pattern: str = "*.typ") -> dict[str, Path]:
    """Return the texts of reports by file name: those of the project, and of the package."""
    folders = (shipped() / "paper", root() / "paper")
    return {file.name: file for folder in folders for file in sorted(folder.glob(pattern))}


def study(name: str) -> Path:
    """Return the file that declares a study. Raises FsgreenError if there is no such study."""
    file = new_study(name)
    if not file.is_file():
        known = [path.stem for path in file.parent.glob("*.yaml")]
        raise unknown(
            "study",
            name,
            known,
            where=file.parent,
            next_step=f"fsgreen list studies, or begin one: fsgreen new {name}",
        )
    return file


def new_study(name: str) -> Path:
    """Return where the file of a study of this name belongs."""
    return root() / "studies" / f"{checked(name, 'study')}.yaml"


BUILD = "./run engine"
"""The command that installs the programs of the engine."""


def program(name: str) -> str | None:
    """Return the path of a program, also beside this Python and where only root looks."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]
    return shutil.which(name, path=os.pathsep.join(places))


def _overwrites() -> bool:
    """Return whether a notebook that a person runs writes to the results themselves."""
    return "FSGREEN_OVERWRITE" in os.environ or "FSGREEN_DATA" in os.environ


def checked(name: str, of: str = "campaign") -> str:
    """Return a name that can be that of a folder; raises FsgreenError for any other."""
    if not _NAME.fullmatch(name):
        raise FsgreenError(
            f"'{name}' cannot be the name of a {of}",
            next_step="use letters, digits, '.', '_' and '-'",
        )
    return name
