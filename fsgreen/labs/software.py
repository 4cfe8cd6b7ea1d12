"""The lab "count what software costs": file systems in a guest whose time is instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from fsgreen import design
from fsgreen.campaign import virtual
from fsgreen.errors import FsgreenError
from fsgreen.labs.feedback import Choice, Choices, Mistake, Number, Task
from fsgreen.labs.lab import Lab

STUDY, PROFILE = "software-cost", "lab"
FACTORS = ["workload", "file_system", "option"]

MAIL = ("varmail", "ext4", "default")
MAIL_WITHOUT_JOURNAL = ("varmail", "ext4", "nojnl")
WEB = ("webserver", "ext4", "default")
WEB_WITHOUT_TIMES = ("webserver", "ext4", "noatime")

SAID = {
    "ext4 executes more instructions for a mail with its journal than without": True,
    "the guest's kernel executes as many instructions for this job on every machine": True,
    "ext4 is slower with its journal on my SSD, by as many per cent": False,
    "ext4 needs more joules for a mail with its journal": False,
    "the next version of the kernel costs the same": False,
}
"""Statements, and whether the lab's samples alone support them."""

CONCLUSIONS = {
    "repeat": "Nothing of this machine gets in. Whether the job is a good one is another question.",
    "own": "This is what the workload and its calls execute, the same on every laptop.",
    "rest": "Waiting, or the kernel's own threads: these columns do not tell them apart.",
    "journal": "Part of it is instructions, part is waiting; a faster disk shortens the second.",
    "saved": "Both sides of a block have the same files and the same random numbers.",
    "half": "Other random numbers are another sample, however exactly each repeats.",
    "say": "Counts of instructions support statements about instructions.",
}

Row = tuple[str, str, str]
"""Workload, file system and option of a trial."""


class SoftwareLab(Lab):
    """Samples of the study `software-cost`: its blocks, each run in a guest once and kept.

    `campaign` names the folder of results that holds them. With the same image of the guest and the
    same QEMU, all students have the same numbers.
    """

    conclusions = CONCLUSIONS
    basis = "simulated: a second is a thousand million instructions of an emulated processor"

    def __init__(self, campaign: str) -> None:
        super().__init__()
        self._campaign = campaign
        self._plan = design.make_plan(design.load_study(STUDY), PROFILE)
        self.blocks = range(1, self._plan.profile.last_block + 1)

    def sample(self, block: int) -> pd.DataFrame:
        """Return a row for each trial of a block: what it ran, and what was counted.

        `work_ops` operations took `virtual_s`. Of these, the workload executed instructions for
        `user_s`, and the kernel in its calls for `system_s`. A guest runs the block if nobody did.

        Raises FsgreenError if it cannot, or a trial failed in it.
        """
        file = virtual.file_of(self._campaign, block)
        rows = virtual.rows(self._kept(file, block))
        if failed := [row["trial"] for row in rows if "error" in row]:
            raise FsgreenError(
                f"{len(failed)} trials failed in the guest: {', '.join(failed)}",
                where=file,
                next_step=f"remove that file, and run the cell again; or get the folder "
                f"{file.parent.name} from somebody whose guest runs",
            )
        cells = {planned.trial: planned.cell for planned in self._plan.trials}
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
        return self._kept(file, 1), self._kept(file.with_stem(f"{file.stem}-again"), 1)

    def _kept(self, file: Path, block: int) -> bytes:
        if not file.exists():
            virtual.keep(virtual.run(STUDY, PROFILE, block), file)
        return file.read_bytes()

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "repeat": self._repeat,
            "own": self._own,
            "rest": self._rest,
            "journal": self._journal,
            "saved": self._saved,
            "half": self._half,
            "say": self._say,
        }

    def _repeat(self) -> Choice:
        return Choice(
            "that nothing of this machine gets in",
            {
                "that the numbers are right": "a clock that is wrong by an hour repeats, too.",
                "that another job has the same numbers": "it was the same job, with the same files "
                "and random numbers. Section 4 runs others.",
                "that file systems are as fast on an SSD": "no SSD took part: the disk is memory, "
                "and each request takes 100 us.",
            },
        )

    def _own(self) -> Number:
        first = self.sample(1)
        row, web = first.loc[MAIL], first.loc[WEB]
        return Number(
            _own_ns(row),
            "instructions for each operation",
            (
                Mistake(
                    1e9 * row.virtual_s / row.work_ops,
                    "the time in which the workload executed nothing is in there.",
                ),
                Mistake(
                    1e9 * row.system_s / row.work_ops,
                    "these are the calls alone. The workload itself executes instructions, too.",
                ),
                Mistake(
                    1e9 * row.user_s / row.work_ops,
                    "this is the workload alone, without what the kernel executes in its calls.",
                ),
                Mistake(
                    1e9 * (row.user_s + row.system_s),
                    "this is for all operations together. How many were there?",
                ),
                Mistake(_own_ns(web), "this is the web server; asked is the mail server."),
            ),
        )

    def _rest(self) -> Number:
        row = self.sample(1).loc[MAIL]
        own = (row.user_s + row.system_s) / row.virtual_s
        return Number(
            100 * (1 - own),
            "% of the virtual time",
            (
                Mistake(100 * own, "this is the workload with its calls; asked is the rest."),
                Mistake(
                    100 * (1 - row.system_s / row.virtual_s),
                    "the instructions of the workload itself are still in this rest.",
                ),
                Mistake(
                    100 * (1 / own - 1),
                    "this is the rest over the workload's time. Asked is a share of all.",
                ),
            ),
        )

    def _journal(self) -> Number:
        first = self.sample(1)
        on, off = first.loc[MAIL], first.loc[MAIL_WITHOUT_JOURNAL]
        ratio = _virtual_ns(on) / _virtual_ns(off)
        own = _own_ns(on) / _own_ns(off)
        return Number(
            ratio,
            "times the virtual time",
            (
                Mistake(1 / ratio, "this is without over with; asked is the other way."),
                Mistake(ratio - 1, "this is what is added; asked is the ratio."),
                Mistake(own, "this is the ratio of instructions; waiting is left out."),
                Mistake(
                    on.virtual_s / off.virtual_s,
                    "both trials are as long as each other. How long does one operation take?",
                ),
            ),
        )

    def _differences(self) -> np.ndarray:
        """Return, for each block, the instructions that an operation saves without access times."""
        every = self.samples()
        return np.array(
            [
                _own_ns(every.loc[(block, *WEB)]) - _own_ns(every.loc[(block, *WEB_WITHOUT_TIMES)])
                for block in self.blocks
            ]
        )

    def _saved(self) -> Number:
        saved = self._differences()
        return Number(
            float(saved.mean()),
            "instructions for each operation",
            (
                Mistake(float(saved[0]), "this is the first sample; asked is the mean of all."),
                Mistake(
                    float(saved.mean() / 1000),
                    "these are thousands; asked are instructions.",
                ),
            ),
        )

    def _half(self) -> Number:
        saved = self._differences()
        n = len(saved)
        t, sd = float(stats.t.ppf(0.975, n - 1)), float(saved.std(ddof=1))
        return Number(
            t * sd / n**0.5,
            "instructions for each operation",
            (
                Mistake(1.96 * sd / n**0.5, "1.96 holds for many samples; here are few."),
                Mistake(t * sd, "this is for one sample; the mean of n scatters less."),
                Mistake(
                    t * float(saved.std(ddof=0)) / n**0.5,
                    "a sample's standard deviation is divided by n - 1: ddof=1 in numpy.",
                ),
                Mistake(sd / n**0.5, "this is a standard error. How many of them cover 95 %?"),
            ),
        )

    def _say(self) -> Choices:
        return Choices(
            {said for said, supported in SAID.items() if supported},
            set(SAID),
            "at least one of these is about something that took no part: a real disk, a meter, or "
            "another kernel.",
            "at least one more is about counts that you have.",
        )


def _own_ns(row: pd.Series) -> float:
    """Return the instructions of an operation: in virtual time each takes a nanosecond."""
    return float(1e9 * (row.user_s + row.system_s) / row.work_ops)


def _virtual_ns(row: pd.Series) -> float:
    return float(1e9 * row.virtual_s / row.work_ops)
