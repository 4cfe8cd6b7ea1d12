"""What DVC knows of the stages: which are out of date, and what came of those that ran."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline.closure import ARTICLE
from fsgreen.pipeline.lockfile import replace_entry

if TYPE_CHECKING:
    from dvc.repo import Repo


class Ledger:
    """DVC in this process: it reads what is recorded once, and threads take turns with it."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._stages = {stage.addressing: stage for stage in repo.index.stages}
        self._turn = Lock()

    @classmethod
    @contextmanager
    def opened(cls, *, wait: bool = False) -> Iterator[Ledger]:
        """Give the ledger of this checkout, which no other process writes to meanwhile.

        Raises FsgreenError if another process works on it, unless this one is to wait.
        """
        from dvc.lock import LockError
        from dvc.repo import Repo, lock_repo

        logging.getLogger("dvc").setLevel(logging.ERROR)  # it warns of frozen stages, each time
        with Repo(str(paths.root()), _wait_for_lock=wait) as repo:
            try:
                with lock_repo(repo):
                    yield cls(repo)
            except LockError as error:
                raise FsgreenError(
                    "another ./run reproduce, or dvc, works in this checkout",
                    where=repo.lock.lockfile,
                    next_step="wait until it has ended, then ./run reproduce",
                ) from error

    def out_of_date(self, names: Iterable[str] = ()) -> dict[str, list[str]]:
        """Return what is not as recorded of what stages rest on or made, by stage.

        Of all unless some are named. A file or folder that several have is looked at once.
        """
        hashes: dict[str, Any] = {}
        with self._turn:
            changes = {
                name: [*_changes(self._stages[name], hashes)] for name in names or self._stages
            }
        return {name: changed for name, changed in changes.items() if changed}

    def commands(self, campaign: str) -> dict[str, str]:
        """Return the command of each stage of a campaign that can run anywhere, in their order."""
        return {
            name: stage.cmd
            for name, stage in self._stages.items()
            if name.endswith(f"@{campaign}") and not stage.frozen and not _of_study(name)
        }

    def of_studies(self) -> dict[str, dict[str, str]]:
        """Return the commands of the stages that all campaigns of a study share, by study."""
        return {
            name.partition("@")[2]: {name: stage.cmd}
            for name, stage in self._stages.items()
            if _of_study(name)
        }

    def of_all(self) -> dict[str, dict[str, str]]:
        """Return the command of what all studies share, as `of_studies` does."""
        return {ARTICLE: {ARTICLE: self._stages[ARTICLE].cmd}} if ARTICLE in self._stages else {}

    def behind(self, name: str) -> dict[str, str]:
        """Return the commands of a stage and of those that make what it reads, in their order."""
        makers = {out.fs_path: other for other, stage in self._stages.items() for out in stage.outs}
        needed = [name]
        for asked in needed:
            if self._stages[asked].frozen:
                continue
            made_by = (makers.get(dep.fs_path) for dep in self._stages[asked].deps)
            needed += [maker for maker in made_by if maker and maker not in needed]
        campaign = name.partition("@")[2]
        return {asked: cmd for asked, cmd in self.commands(campaign).items() if asked in needed}

    def outs(self, names: Iterable[str]) -> list[Path]:
        """Return the files and folders that stages make."""
        return [Path(out.fs_path) for name in names for out in self._stages[name].outs]

    def pull(self, name: str) -> None:
        """Put the output of a stage in place, out of the store that ships.

        Raises FsgreenError if the store lacks some, or files that were changed by hand are in the
        way.
        """
        from dvc.exceptions import DvcException

        with self._turn:
            try:
                self._repo.pull(targets=[name])
            except DvcException as error:
                (out,) = self._stages[name].outs
                raise FsgreenError(
                    f"what {name} made could not be put in place: {error}",
                    where=out.fs_path,
                    next_step=f"if you changed {out.fs_path}, move it; "
                    "else git checkout -- data/store",
                ) from error

    def clear(self, name: str) -> None:
        """Remove what a stage made before, so that nothing old stands among what it makes."""
        with self._turn:
            self._stages[name].remove_outs()

    def record(self, name: str) -> None:
        """Keep in `dvc.lock` what a stage has used and made."""
        from dvc.stage.serialize import to_lockfile
        from dvc.utils.serialize import dumps_yaml

        stage = self._stages[name]
        with self._turn:
            stage.save()
            stage.commit()
            _, _, entry = dumps_yaml({"stages": to_lockfile(stage)}).partition("\n")
            if not replace_entry(paths.root() / "dvc.lock", entry):
                stage.dump(update_pipeline=False)


def _of_study(stage: str) -> bool:
    return stage.startswith("ledger@")


def _changes(stage: Any, hashes: dict[str, Any]) -> Iterator[str]:
    """Yield what of a stage is not as recorded; a frozen one rests on nothing."""
    for entry in (*([] if stage.frozen else stage.deps), *stage.outs):
        if not _is_as_recorded(entry, hashes):
            yield str(entry)
    if stage.changed_stage():
        yield "its command"


def _is_as_recorded(entry: Any, hashes: dict[str, Any]) -> bool:
    from dvc.dependency import ParamsDependency

    # Parameters are compared by their values; what DVC keeps must be in its store, too.
    if entry.use_cache or isinstance(entry, ParamsDependency):
        return not entry.status()
    if entry.fs_path not in hashes:
        hashes[entry.fs_path] = entry.get_hash() if entry.exists else None
    return bool(entry.hash_info) and entry.hash_info == hashes[entry.fs_path]
