"""The lab "count what software costs": file systems in a guest in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from fsgreen import design
from fsgreen.campaign import virtual
from fsgreen.devices.vm.alone import guest_of
from fsgreen.errors import FsgreenError
from fsgreen.labs.feedback import Choice, Choices, Mistake, NotYet, Number, Task
from fsgreen.labs.lab import Lab

STUDY, PROFILE = "software-cost", "lab"
FACTORS = ["workload", "file_system", "option"]

MAIL = ("varmail", "ext4", "default")
MAIL_WITHOUT_JOURNAL = ("varmail", "ext4", "nojnl")
WEB = ("webserver", "ext4", "default")
WEB_WITHOUT_TIMES = ("webserver", "ext4", "noatime")

EXACTLY_PERCENT = 0.1
"""How far off the mean saving may be: that of the first sample is near it."""

STATEMENTS = {
    "in these samples, a mail operation takes longer in virtual time with ext4's journal": True,
    "this job takes as much virtual time again, with this image and QEMU": True,
    "it takes as much with the next version of the kernel": False,
    "ext4 is slower with its journal on my SSD, by as many per cent": False,
    "ext4 needs more joules with its journal": False,
    "noatime saves as much on my laptop, where Linux mounts with relatime": False,
}
"""Statements, and whether the lab's samples support them on their own."""

CONCLUSIONS = {
    "repeat": "Whether these numbers hold elsewhere is another question.",
    "each": "A time does not say what it went to.",
    "journal": "More than one thing is in this ratio.",
    "saved": "Both sides of a block have the same files and the same random numbers.",
    "half": "Each of the five repeats exactly, and their mean has an interval all the same.",
    "say": "Virtual time supports statements about virtual time.",
}


class SoftwareLab(Lab):
    """Samples of the study `software-cost`: its blocks, each run in a guest once and kept.

    `campaign` names the folder of results that holds them. With the same image of the guest and the
    same QEMU, all students have the same numbers.
    """

    conclusions = CONCLUSIONS
    basis = "simulated: each instruction of an emulated processor takes a nanosecond"

    def __init__(self, campaign: str) -> None:
        super().__init__()
        self._campaign = campaign
        self._plan = design.make_plan(design.load_study(STUDY), PROFILE)
        self.blocks = range(1, self._plan.profile.last_block + 1)

    def sample(self, block: int) -> pd.DataFrame:
        """Return a row for each trial of a block: what it ran, and what was counted.

        `work_ops` operations took `virtual_s`. A guest runs the block unless its output is kept.

        Raises FsgreenError if the guest cannot run, a trial failed, or a kept file is of another
        guest or plan.
        """
        file = virtual.file_of(self._campaign, block)
        rows = virtual.rows(self._written(file, block))
        cells = {one.trial: one.cell for one in self._plan.trials if one.block == block}
        if {row["trial"] for row in rows} != set(cells):
            raise self._mixed(f"{file.name} is not block {block} of this plan of {STUDY}")
        levels = [{factor: cells[row["trial"]][factor] for factor in FACTORS} for row in rows]
        counted = pd.DataFrame(rows).drop(columns="trial")
        table = pd.concat([pd.DataFrame(levels), counted], axis=1).sort_values(FACTORS)
        return table.set_index(FACTORS)

    def samples(self) -> pd.DataFrame:
        """Return the rows of all blocks; `block` is the first level of their index."""
        return pd.concat({block: self.sample(block) for block in self.blocks}, names=["block"])

    def twice(self) -> tuple[bytes, bytes]:
        """Return what the guest wrote in the first block, and what it wrote in a second run."""
        file = virtual.file_of(self._campaign, 1)
        return self._written(file, 1), self._written(file.with_stem(f"{file.stem}-again"), 1)

    def _written(self, file: Path, block: int) -> bytes:
        """Return what a file keeps; a guest runs the block if it is not there."""
        kept = file.exists()
        given = f"get the folder {file.parent.name} from somebody, as {file.parent}"
        try:
            written = file.read_bytes() if kept else virtual.run(STUDY, PROFILE, block)
        except FsgreenError as error:
            steps = "; or ".join(step for step in (error.next_step, given) if step)
            raise FsgreenError(error.what, where=error.where, next_step=steps) from None
        first = virtual.file_of(self._campaign, 1)
        try:
            failed = [row for row in virtual.rows(written) if "error" in row]
            others = first.exists() and guest_of(written) != guest_of(first.read_bytes())
        except (ValueError, LookupError, TypeError, AttributeError):
            raise self._mixed(f"{file.name} or {first.name} is no sample, or not whole") from None
        if failed:
            raise FsgreenError(
                f"{len(failed)} trials failed in the guest, first {failed[0]['trial']}: "
                f"{failed[0]['error']}",
                where=file if kept else STUDY,
                next_step=f"{'remove that file' if kept else 'fsgreen doctor'}; or {given}",
            )
        if others:
            raise self._mixed(f"{first.name} and {file.name} were written by different guests")
        if not kept:
            virtual.keep(written, file)
        return written

    def _mixed(self, what: str) -> FsgreenError:
        folder = virtual.file_of(self._campaign, 1).parent
        return FsgreenError(
            what,
            where=folder,
            next_step="remove that folder and run the cells again, or get all of it from one place",
        )

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "repeat": self._repeat,
            "each": self._each,
            "journal": self._journal,
            "saved": self._saved,
            "half": self._half,
            "say": self._say,
        }

    def _repeat(self) -> Choice:
        once, again = self.twice()
        if once != again:
            raise NotYet(
                "your two runs differ, and they should not: tell your teacher. This task "
                "needs two runs that are equal."
            )
        return Choice(
            "that nothing which differed between the two runs gets in",
            {
                "that the numbers are right": "a clock that is wrong by an hour repeats, too.",
                "that another job has the same numbers": "it was the same job, with the same files "
                "and random numbers. Section 5 runs others.",
                "that file systems are as fast on an SSD": "no SSD took part: the disk is memory, "
                "and each request takes 100 us.",
            },
        )

    def _each(self) -> Number:
        first = self.sample(1)
        row = first.loc[MAIL]
        return Number(
            _virtual_ns(row),
            "ns of virtual time",
            (
                Mistake(1e9 * row.virtual_s, "this is all of the trial. How many were done in it?"),
                Mistake(row.work_ops / row.virtual_s, "these are operations per second."),
                Mistake(row.virtual_s / row.work_ops, "these are seconds; asked are nanoseconds."),
                Mistake(
                    _virtual_ns(first.loc[WEB]), "this is the web server; asked is the mail server."
                ),
            ),
        )

    def _journal(self) -> Number:
        first = self.sample(1)
        on, off = first.loc[MAIL], first.loc[MAIL_WITHOUT_JOURNAL]
        ratio = _virtual_ns(on) / _virtual_ns(off)
        return Number(
            ratio,
            "times the virtual time",
            (
                Mistake(
                    1 / ratio,
                    "this is the time without the journal over the time with it; asked is the "
                    "other way.",
                ),
                Mistake(ratio - 1, "this is what is added; asked is the ratio."),
                Mistake(
                    on.virtual_s / off.virtual_s,
                    "both trials are as long as each other. How long does one operation take?",
                ),
            ),
        )

    def _web(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what an operation of the web server takes in each block, in ns of virtual time:
        with access times, and without.
        """
        every = self.samples()
        with_times_ns, without_ns = (
            np.array([_virtual_ns(every.loc[(block, *row)]) for block in self.blocks])
            for row in (WEB, WEB_WITHOUT_TIMES)
        )
        return with_times_ns, without_ns

    def _saved(self) -> Number:
        with_times_ns, without_ns = self._web()
        saved_ns = with_times_ns - without_ns
        return Number(
            float(saved_ns.mean()),
            "ns of virtual time",
            (
                Mistake(float(saved_ns[0]), "this is the first sample; asked is the mean of all."),
                Mistake(
                    float(100 * (1 - without_ns.mean() / with_times_ns.mean())),
                    "these are per cent; asked are nanoseconds.",
                ),
            ),
            within_percent=EXACTLY_PERCENT,
        )

    def _half(self) -> Number:
        with_times_ns, without_ns = self._web()
        saved_ns = with_times_ns - without_ns
        n = len(saved_ns)
        t, error = float(stats.t.ppf(0.975, n - 1)), float(saved_ns.std(ddof=1)) / n**0.5
        apart = (with_times_ns.var(ddof=1) + without_ns.var(ddof=1)) / n
        return Number(
            t * error,
            "ns of virtual time",
            (
                Mistake(2 * t * error, "this is all of the interval; asked is half of it."),
                Mistake(1.96 * error, "1.96 holds for many samples; here are few."),
                Mistake(error, "this is a standard error. How many of them cover 95 %?"),
                Mistake(t * error * n**0.5, "this is for one sample; the mean of n scatters less."),
                Mistake(
                    t * error * ((n - 1) / n) ** 0.5,
                    "a sample's standard deviation is divided by n - 1: ddof=1 in numpy.",
                ),
                Mistake(
                    float(stats.t.ppf(0.975, 2 * n - 2)) * apart**0.5,
                    "this is for trials that share nothing. Those of a block have the same files: "
                    "begin with the differences inside blocks.",
                ),
            ),
        )

    def _say(self) -> Choices:
        return Choices(
            {said for said, supported in STATEMENTS.items() if supported},
            set(STATEMENTS),
            "at least one of these is about something that took no part in your samples.",
            "at least one more is about your samples alone.",
        )


def _virtual_ns(row: pd.Series) -> float:
    """Return the virtual time of an operation."""
    return float(1e9 * row.virtual_s / row.work_ops)
