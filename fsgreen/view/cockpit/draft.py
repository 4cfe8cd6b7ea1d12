"""A study's file as values: begun, changed, written, and read back by the schema of all studies."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from fsgreen import design, durable, paths, schema
from fsgreen.campaign import studycheck
from fsgreen.design import DEFAULT, Cell, Study, factors, newstudy, studyfile
from fsgreen.design.cell import cells_of
from fsgreen.design.factors import Level
from fsgreen.errors import FsgreenError

HEAD = "# Composed in notebooks/02_cockpit.ipynb; docs/studies.md explains every key.\n"

TITLE = "File systems and workloads of my choice"

OTHERS = "workloads, file systems and options that are not listed"
"""What a new study leaves out; its author says why."""

EXCLUSIONS = (
    {"what": OTHERS, "why": "these are enough for a first look"},
    {"factor": "scale", "profiles": ["quick", "full"], "why": "fewer files fit this machine"},
    {"factor": "measure_s", "profiles": ["quick"], "why": "a quick look"},
)
"""Those of a new study, which hold whatever is chosen (rule 6)."""

UNASKED = ("option", DEFAULT)
"""A level that cells have which name none."""


class Draft:
    """The values of a study's file that is sound. What no control knows stays as it is."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self._known: str | None = None
        """The text of the file that this may replace, None where there is none."""
        self._saved: dict[str, Any] | None = None
        """What the file says that this was read from or written to, None where there is none."""

    @classmethod
    def begin(cls, name: str) -> Draft:
        """Return the study that `fsgreen new` begins with, without what it says of its levels."""
        values = schema.plain(newstudy.text(name))
        return cls({**values, "title": TITLE, "exclusions": [dict(each) for each in EXCLUSIONS]})

    @classmethod
    def open(cls, name: str) -> Draft:
        """Return what `studies/NAME.yaml` says; raises FsgreenError if it is not sound."""
        file = paths.study(name)
        design.read_study(file)  # declares its factors and metrics
        draft = cls(studyfile.read(file).values)
        if draft.text == file.read_text(encoding="utf-8"):  # else comments would be lost
            draft._known = draft.text
        draft._saved = deepcopy(draft.values)
        return draft

    @property
    def name(self) -> str:
        """The name of the study, and of its file."""
        return str(self.values["study"])

    @name.setter
    def name(self, name: str) -> None:
        self.values["study"] = name

    @property
    def is_changed(self) -> bool:
        """Whether it says something else than the file that it was read from or written to."""
        return self._saved is not None and self.values != self._saved

    @property
    def text(self) -> str:
        """Return the file."""
        return HEAD + yaml.dump(
            self.values,
            Dumper=_Dumper,
            sort_keys=False,
            default_flow_style=None,
            allow_unicode=True,
            width=100,
        )

    def at(self, *place: str | int) -> Any:
        """Return the value at a place, None where nothing stands there."""
        value: Any = self.values
        for step in place:
            try:
                value = value[step]
            except (LookupError, TypeError):
                return None
        return value

    def put(self, value: Any, *place: str | int) -> None:
        """Put a value at a place; None leaves out what stands there."""
        *above, key = place
        parent = self.at(*above)
        if value is None:
            parent.pop(key, None)
        else:
            parent[key] = value

    def levels(self, profile: str, matrix: str, factor: str) -> list[Level]:
        """Return the levels of a factor in a matrix, or the one that holds where it names none."""
        held = self._held(profile, factor)
        return list(self.at("matrices", matrix, factor) or ([] if held is None else [held]))

    def choose(self, profile: str, matrix: str, factor: str, levels: Sequence[Level]) -> None:
        """Have a matrix vary a factor over levels.

        One that holds anyhow, in each profile that has the matrix, need not stand there.
        """
        chosen = [*levels]
        if chosen == self.levels(profile, matrix, factor):
            return
        of = [name for name, one in self.values["profiles"].items() if matrix in one["matrices"]]
        is_held = all(chosen == [self._held(name, factor)] for name in of)
        self.put(None if is_held or not chosen else chosen, "matrices", matrix, factor)

    def cells(self, profile: str) -> list[Cell]:
        """Return the cells of a profile; raises FsgreenError for a factorial that is none."""
        names = self.at("profiles", profile, "matrices")
        of = (cell for name in names for cell in cells_of(self.values["matrices"][name]))
        return list(dict.fromkeys(of))

    @property
    def baseline(self) -> Cell:
        """The cell that every block has (rule 4)."""
        return Cell(**self.values["baseline"])

    @baseline.setter
    def baseline(self, cell: Cell) -> None:
        said = {name: level for name, level in cell.items() if (name, level) != UNASKED}
        self.values["baseline"] = said

    def check(self, profile: str) -> Study:
        """Return the study, checked as `fsgreen plan` does it.

        Raises FsgreenError with all that is wrong, by line of `text`.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"{paths.checked(self.name, 'study')}.yaml")
            file.write_text(self.text, encoding="utf-8")
            try:
                return studycheck.check(file, profile)
            except FsgreenError as error:
                raise FsgreenError(
                    error.what, where="the lines below", next_step="choose otherwise above"
                ) from error

    def save(self, profile: str) -> Path:
        """Write `studies/NAME.yaml` whole, read it back, and return it.

        Raises FsgreenError if the study is not sound, or what another file of this name says would
        be lost.
        """
        self.check(profile)
        file = paths.new_study(self.name)
        if file.exists() and file.read_text(encoding="utf-8") != self._known:
            raise FsgreenError(
                f"there is a study {self.name} already, which would be overwritten",
                where=file,
                next_step="take another name; or begin with that study, if it was composed here",
            )
        file.parent.mkdir(exist_ok=True)
        with durable.whole(file) as partial:
            partial.write_text(self.text, encoding="utf-8")
        self._known, self._saved = self.text, deepcopy(self.values)
        studycheck.check(file, profile)
        return file

    def _held(self, profile: str, factor: str) -> Level | None:
        """Return the level that a profile's cell has which names none; None where there is none."""
        if factor == UNASKED[0]:
            return UNASKED[1]
        level = self.at("profiles", profile, "constants", factor)
        level = self.at("constants", factor) if level is None else level
        return factors.get(factor).default if level is None else level


class _Dumper(yaml.SafeDumper):
    """Writes what stands at two places twice, where others write a mark and refer to it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
