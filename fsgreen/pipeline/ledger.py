"""What DVC knows of the stages: which are out of date, and what came of those that ran."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from threading import RLock
from typing import Any

from fsgreen import paths
from fsgreen.errors import FsgreenError

STALE = "changed outs"
"""What DVC says of a stage whose outputs are not those that it knows."""


class Ledger:
    """DVC in this process: it starts once, and threads take turns with it."""

    def __init__(self) -> None:
        from dvc.repo import Repo

        logging.getLogger("dvc").setLevel(logging.ERROR)  # it warns of frozen stages, each time
        self._repo = Repo(str(paths.root()))
        self._turn = RLock()

    def out_of_date(self, stages: Iterable[str] = ()) -> dict[str, Any]:
        """Return why stages must run, by name; of all stages unless some are named.

        A stage that always runs is there only if what it makes is not what is recorded.
        """
        with self._turn:
            changes = self._repo.status(targets=list(stages) or None)
        return {name: reasons for name, reasons in changes.items() if reasons != ["always changed"]}

    def commands(self, campaign: str) -> dict[str, str]:
        """Return the command of each stage of a campaign that can run anywhere, in their order."""
        with self._turn:
            stages = {stage.name: stage for stage in self._repo.index.stages if stage.name}
        return {
            name: stage.cmd
            for name, stage in stages.items()
            if name.endswith(f"@{campaign}") and not stage.frozen
        }

    def pull(self, stage: str) -> None:
        """Put the outputs of a stage in place, out of the store that ships.

        Raises
        ------
        FsgreenError
            If the store lacks some, or files that were changed by hand are in the way.
        """
        from dvc.exceptions import DvcException

        with self._turn:
            try:
                self._repo.pull(targets=[stage])
            except DvcException as error:
                (out,) = self._repo.stage.collect(stage)[0].outs
                raise FsgreenError(
                    f"the raw traces of {stage.partition('@')[2]} could not be put in place: "
                    f"{error}",
                    where=out.fs_path,
                    next_step="wait for another ./run reproduce, if there is one; else "
                    f"git checkout -- data/store; if you changed {out.fs_path}, move it",
                ) from error

    def clear(self, stage: str) -> None:
        """Remove what a stage made before, so that nothing old stands among what it makes."""
        from dvc.repo import lock_repo

        with self._turn, lock_repo(self._repo):
            (found,) = self._repo.stage.collect(stage)
            found.remove_outs()

    def record(self, stage: str) -> None:
        """Keep in `dvc.lock` what a stage has used and made."""
        with self._turn:
            self._repo.commit(target=stage, force=True)
