"""What a worker does for home, by name, and nothing else.

Studies are those of the worker's own project, and its testbed file is read here: home names a study
and a profile, and cannot say what they mean.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from fsgreen import design, trial
from fsgreen.design.members import member
from fsgreen.errors import FsgreenError, unknown
from fsgreen.fleet.harness import Harness
from fsgreen.fleet.messages import PIECE_B, Order, Piece, Place, Refusal, Rest, Shelf, Which, parsed
from fsgreen.paths import RECORD
from fsgreen.schema import Strict


class Tasks:
    """The tasks of one testbed.

    `harness` measures on it; `data` is the data folder of what is measured.
    """

    def __init__(self, testbed: str, harness: Harness, data: Path) -> None:
        self._testbed, self._harness, self._raw = testbed, harness, data / "raw"
        self._known: dict[str, tuple[type[Strict], Callable[[Any], Awaitable[Strict]]]] = {
            "measure": (Order, self._measure),
            "shelf": (Which, self._shelf),
            "piece": (Place, self._piece),
        }

    async def perform(self, task: object = None, arguments: object = None) -> dict[str, Any]:
        """Do a task and return `done` with its answer, or `refused` with what, where, next_step."""
        try:
            if not isinstance(task, str) or task not in self._known:
                raise unknown("task", task, self._known, where=f"the testbed {self._testbed}")
            schema, do = self._known[task]
            answer = await do(parsed(schema, arguments, "home"))
            return {"done": answer.model_dump()}
        except FsgreenError as error:
            return {"refused": Refusal.of(error).model_dump()}

    async def _measure(self, order: Order) -> Rest:
        mine = design.make_plan(design.load_study(order.study), order.profile).hash
        if mine != order.plan_hash:
            raise FsgreenError(
                f"the plan of {order.study}, profile {order.profile}, is another one here: home "
                f"has {order.plan_hash[:12]}, the testbed {self._testbed} {mine[:12]}",
                where=f"studies/{order.study}.yaml",
                next_step="have the same file, and the same version of fsgreen, on both machines",
            )
        return await self._harness.go_on(order)

    async def _shelf(self, which: Which) -> Shelf:
        await self._harness.ended()
        return shelf(self._folder(which.campaign))

    async def _piece(self, place: Place) -> Piece:
        await self._harness.ended()
        folder = self._folder(place.campaign)
        if place.folder is not None and place.trial is not None:
            folder = folder / place.folder / place.trial
        file = folder / place.file
        try:
            with file.open("rb") as stream:
                stream.seek(place.offset_b)
                return Piece(data=stream.read(PIECE_B), size_b=file.stat().st_size)
        except OSError as error:
            raise FsgreenError(
                f"a part of a file cannot be read: {error.strerror}",
                where=file,
                next_step="find out what removes files there, then start the same command again",
            ) from error

    def _folder(self, campaign: str) -> Path:
        return self._raw / member(campaign, self._testbed)


def shelf(folder: Path) -> Shelf:
    """Return what there is of a campaign in its folder; what is half written is left out."""
    return Shelf(
        files={file.name: digest(file) for file in _entries(folder) if file.is_file()},
        trials=_records(folder / "trials"),
        invalid=_records(folder / "invalid"),
    )


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, which is read once as long as nobody writes it."""
    state = file.stat()
    return _digest(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1_000_000)
def _digest(file: Path, _changed_ns: int, _size_b: int) -> str:
    return trial.sha256_of(file)


def _records(folder: Path) -> dict[str, str]:
    return {entry.name: digest(entry / RECORD) for entry in _entries(folder)}


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
