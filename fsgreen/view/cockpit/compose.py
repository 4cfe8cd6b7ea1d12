"""The room in which a study is composed: controls, the file that they make, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice

import ipywidgets as widgets

from fsgreen import design
from fsgreen.design import Cell
from fsgreen.design.factors import Level
from fsgreen.design.overview import describe
from fsgreen.errors import FsgreenError
from fsgreen.view import markup
from fsgreen.view.cockpit import offered
from fsgreen.view.cockpit.draft import OTHERS, Draft
from fsgreen.view.cockpit.offered import FACTORS, NUMBERS, Number
from fsgreen.view.explore.controls import (
    STYLE,
    Follower,
    button,
    dropdown,
    offer,
    row,
    several,
    text,
)
from fsgreen.view.explore.here import studies

NEW, FIRST = "a new study", "mine"
NUMBER = {"width": "24em"}
MOST_LINES = 8
"""Lines of a control that offers several."""

CHANGED = "changed since it was saved; Start measures the saved file"

MOST = 10**9
"""No number of a profile is larger."""


class Compose(widgets.VBox):
    """A study's file and controls for it; `when_saved` is called with the name of one written.

    The study is shown first; it is begun anew, if there is none of that name.

    `draft` is what is composed.
    """

    def __init__(self, study: str, when_saved: Callable[[str], None]) -> None:
        self._when_saved = when_saved
        self._follower = Follower()
        there = studies()
        self.draft = Draft.begin(FIRST)
        self.start = dropdown("begin with", [NEW, *there])
        self.study = text("name")
        self.title, self.question = text("title"), text("question")
        self.why = text("why no other workloads, file systems and options")
        self.profile, self.matrix = dropdown("profile"), dropdown("matrix")
        self.levels = {name: several(name.replace("_", " ")) for name in FACTORS}
        self.baseline = dropdown("baseline (in every block)")
        self.numbers = {number: _number(number) for number in NUMBERS}
        self.told, self.says, self.file = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.keep = button("Save", "write the file of this study", "save")
        self.kept = widgets.HTML()
        super().__init__(
            [
                widgets.HTML(markup.style()),
                row(self.start, self.study),
                self.title,
                self.question,
                row(self.profile, self.matrix, self.baseline),
                row(*self.levels.values()),
                self.told,
                row(*self.numbers.values()),
                self.why,
                self.says,
                self.file,
                widgets.HBox([self.keep, self.kept]),
            ]
        )
        self._follow_all()
        self.keep.on_click(lambda _: self.save())
        with self._follower.quietly():
            self.study.value = study
            self.start.value = study if study in there else NEW
            self._open()
            self._tell()

    def save(self) -> None:
        """Write the study as it is composed, and say where it is."""
        try:
            file = self.draft.save(self.profile.value)
        except FsgreenError as error:
            self.kept.value = markup.fault(error)
            return
        with self._follower.quietly():
            self.start.options = [NEW, *studies()]
            self.start.value = self.draft.name
        self.kept.value = markup.says(f"saved and read back: {file}")
        self._when_saved(self.draft.name)

    def _follow_all(self) -> None:
        self._follow(self.start, self._open)
        self._follow(self.study, self._rename)
        for control, place in self._texts():
            self._follow(control, partial(self._put, control, place))
        self._follow(self.profile, self._offer_profile)
        self._follow(self.matrix, self._offer_levels)
        for name in FACTORS:
            self._follow(self.levels[name], partial(self._choose, name))
        self._follow(self.baseline, self._rebase)
        for number in NUMBERS:
            self._follow(self.numbers[number], partial(self._count, number))

    def _follow(self, control: widgets.Widget, change: Callable[[], None]) -> None:
        """Do what a person's change asks for, and show what came of it."""

        def changed() -> None:
            self.kept.value = ""
            change()
            self._tell()

        self._follower.follow(control, changed)

    def _texts(self) -> tuple[tuple[widgets.Text, tuple[str | int, ...]], ...]:
        return (
            (self.title, ("title",)),
            (self.question, ("question",)),
            (self.why, ("exclusions", 0, "why")),
        )

    def _open(self) -> None:
        """Begin with a study, and show what it says; one that is not sound is not opened."""
        if self.start.value != NEW:
            try:
                self.draft = Draft.open(self.start.value)
            except FsgreenError as error:
                self.kept.value = markup.fault(error)
                self.start.value = NEW
            else:
                self.study.value = self.draft.name
        if self.start.value == NEW:
            self.draft = Draft.begin(FIRST)
            self._rename()
        for control, place in self._texts():
            control.value = str(self.draft.at(*place) or "")
        self.why.disabled = self.draft.at("exclusions", 0, "what") != OTHERS
        self.why.layout.display = "none" if self.why.disabled else None
        offer(self.profile, [(name, name) for name in self.draft.values["profiles"]])
        self._offer_profile()

    def _rename(self) -> None:
        self.draft.name = self.study.value.strip()

    def _put(self, control: widgets.Text, place: tuple[str | int, ...]) -> None:
        self.draft.put(control.value, *place)

    def _offer_profile(self) -> None:
        of = self.draft.values["profiles"][self.profile.value]
        offer(self.matrix, [(name, name) for name in of["matrices"]])
        for number, control in self.numbers.items():
            value = self.draft.at("profiles", self.profile.value, *number.place)
            value = number.unset if value is None else value
            is_one = isinstance(value, int | float)
            control.layout.display = None if is_one else "none"
            if is_one:
                control.value = value
        self._offer_levels()

    def _offer_levels(self) -> None:
        for name in FACTORS:
            self._offer_factor(name)
        self._offer_baseline(keep=True)

    def _offer_factor(self, name: str) -> None:
        """Offer the levels of a factor; those that the matrix has are chosen."""
        there = self._levels(name)
        of = self._levels("file_system")
        options = offered.with_those(offered.levels(name, map(str, of)), there)
        control = self.levels[name]
        control.options = [*options.items()]
        control.rows = max(2, min(MOST_LINES, len(options)))
        control.value = there
        factorial = self.draft.at("matrices", self.matrix.value, "factorial")
        control.disabled = name == "option" and factorial is not None

    def _choose(self, name: str) -> None:
        """Take the levels of a factor that are chosen now; options must fit the file systems."""
        profile, matrix = self.profile.value, self.matrix.value
        self.draft.choose(profile, matrix, name, self.levels[name].value)
        if name == "file_system":
            file_systems = map(str, self._levels(name))
            known = offered.levels("option", file_systems).values()
            options = [level for level in self.levels["option"].value if level in known]
            self.draft.choose(profile, matrix, "option", options)
            self._offer_factor("option")
        self.levels[name].value = self._levels(name)
        self._offer_baseline(keep=False)

    def _levels(self, name: str) -> list[Level]:
        return self.draft.levels(self.profile.value, self.matrix.value, name)

    def _offer_baseline(self, *, keep: bool) -> None:
        """Offer the cells; the baseline is one of them: itself, or that which has most of it."""
        try:
            cells = self.draft.cells(self.profile.value)
        except FsgreenError:
            return  # told with all else that is wrong
        if keep and self.draft.baseline not in cells:
            cells.insert(0, self.draft.baseline)
        before = self.draft.baseline
        self.baseline.options = [(cell.label, cell) for cell in cells]
        self.baseline.value = max(cells, key=partial(_likeness, before), default=None)
        if not keep:
            self._rebase()

    def _rebase(self) -> None:
        if self.baseline.value is not None:
            self.draft.baseline = self.baseline.value

    def _count(self, number: Number) -> None:
        value = self.numbers[number].value
        plain = int(value) if float(value).is_integer() else value
        said = None if plain == number.unset else plain
        self.draft.put(said, "profiles", self.profile.value, *number.place)

    def _tell(self) -> None:
        """Show the file, and how large a plan it is or what is wrong with it."""
        self.told.value = "".join(map(markup.says, offered.about(self._levels("workload"))))
        self.file.value = markup.lines(self.draft.text.splitlines())
        if self.draft.is_changed:
            self.kept.value = markup.says(CHANGED)
        try:
            study = self.draft.check(self.profile.value)
            plan = design.make_plan(study, self.profile.value)
        except FsgreenError as error:
            self.says.value = markup.fault(error)
        else:
            short = islice(describe(plan, study), 1, 3)
            self.says.value = markup.says("sound: " + "; ".join(short))


def _likeness(one: Cell, other: Cell) -> tuple[bool, int]:
    """Return how much two cells have alike, most of all if they are the same."""
    return one == other, len(one.items() & other.items())


def _number(number: Number) -> widgets.Widget:
    control = widgets.BoundedIntText if number.is_whole else widgets.BoundedFloatText
    return control(description=number.title, min=number.least, max=MOST, style=STYLE, layout=NUMBER)
