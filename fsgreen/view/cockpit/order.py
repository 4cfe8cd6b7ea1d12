"""A campaign to measure: the words of `fsgreen measure`, and the plan behind them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fsgreen import assay, design, paths, testbeds
from fsgreen.assay.notes import notes
from fsgreen.campaign import TestbedFile, sizes, studycheck, testbedfile
from fsgreen.campaign.measure import kind_of_testbed, look
from fsgreen.design import Plan, Study
from fsgreen.design.overview import describe
from fsgreen.devices import mounts
from fsgreen.preflight import Finding
from fsgreen.preflight.able import TRACES_B


@dataclass(frozen=True)
class Order:
    """A campaign to measure.

    `campaign` is the name of its folder in `data/raw`, and `testbed` a kind. `folder` is where the
    testbed works; "" is its own choice.
    """

    study: str
    profile: str
    campaign: str
    testbed: str = "auto"
    folder: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """What is typed behind `fsgreen`."""
        words = ("measure", self.study, "--profile", self.profile, "--name", self.campaign)
        folder = (f"--folder={self.folder}",) if self.folder else ()
        return (*words, "--testbed", self.testbed, *folder)

    @property
    def typed(self) -> str:
        """The command as a person types it."""
        return shlex.join(("fsgreen", *self.arguments))

    @property
    def place(self) -> TestbedFile:
        """The testbed, as the command line makes it of these words."""
        folder = Path(self.folder) if self.folder else None
        return testbedfile.read(self.testbed).over(folder=folder, in_memory=False)

    def plan(self) -> tuple[Study, Plan]:
        """Return the study and the plan; that of one file system where the testbed has one.

        Raises FsgreenError if there is no such study, profile or testbed, or something is wrong in
        the study.
        """
        study = studycheck.check(paths.study(self.study), self.profile)
        plan = design.make_plan(study, self.profile)
        only = _only_file_system(kind_of_testbed(self.place, plan), self.place.folder)
        return study, design.make_plan(study, self.profile, only=only) if only else plan

    def planned(self) -> Iterator[str]:
        """Yield what `fsgreen plan` prints, and what the campaign takes of the disks."""
        study, plan = self.plan()
        yield from describe(plan, study)
        yield from sizes.of_files(plan)
        yield from (f"note: {note}" for note in notes(study, plan))
        images_mib = design.most_ready(plan) * plan.profile.image_b / 2**20
        yield (
            f"disk space: up to {images_mib:.0f} MiB for files under test, and up to "
            f"{TRACES_B / 2**20:.0f} MiB for traces and tables"
        )

    def decides(self) -> Iterator[str]:
        """Yield what `fsgreen plan --assay` prints."""
        return assay.lines(*self.plan())

    def findings(self) -> list[Finding]:
        """Return what `fsgreen measure` looks at first; takes a second or two."""
        return look(self.place, self.plan()[1])


def _only_file_system(kind: str, folder: Path | None) -> str | None:
    """Return the file system of a directory, None where any can be made."""
    if kind == "auto":
        kind = next(entry.name for entry in testbeds.available() if entry.usable)
    if kind != "directory":
        return None
    return mounts.holding(folder or testbeds.default_folder(kind)).file_system
