"""What files of results say together, kept in a folder: tables, figures, and the text beside."""

from __future__ import annotations

from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.figures.style import save
from fsgreen.gathered.forest import forest
from fsgreen.gathered.lines import lines
from fsgreen.gathered.pools import Gathered
from fsgreen.reduce import write_csv

TEXT = "gathered.txt"


def keep(gathered: Gathered, folder: Path) -> list[Path]:
    """Write tables, a forest plot for each metric, and the text beside; return the files.

    The folder is a new one, an empty one, or one that has been written by this before. Raises
    FsgreenError if the folder holds other things.
    """
    if folder.exists() and (
        not folder.is_dir() or (any(folder.iterdir()) and not (folder / TEXT).is_file())
    ):
        raise FsgreenError(
            "there is something else already",
            where=folder,
            next_step="name a new folder: --out FOLDER",
        )
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / TEXT
    text.write_text("\n".join(lines(gathered)) + "\n", encoding="utf-8")
    names = {number: file.name for number, file in enumerate(gathered.files, start=1)}
    each = gathered.each.assign(file=gathered.each["file"].map(names).astype(str))
    files = [
        text,
        write_csv(each, folder / "machines.csv"),
        write_csv(gathered.together, folder / "together.csv"),
    ]
    for metric in dict.fromkeys(gathered.shared["metric"]):
        files += save(forest(gathered, metric), folder, f"forest_{metric}")
    return files
