"""What home asks of a worker, and what that answers: plain values alone, checked at both ends."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.schema import Strict, faults_of

Message = TypeVar("Message", bound=Strict)

PIECE_B = 4 << 20
"""The largest part of a file that is sent at once."""

NAME_B = 240
"""The longest name of a file: a temporary one has a few bytes more, and 255 is what disks take."""

_FILE = re.compile(r"[^./][^/]*")
_FOLDERS = ("trials", "invalid", "discarded")


def is_plain(name: str) -> bool:
    """Return whether a name is that of something right inside of a folder, fit to be shown."""
    return name.isprintable() and _FILE.fullmatch(name) is not None and len(name.encode()) <= NAME_B


def _plain(name: str) -> str:
    if not is_plain(name):
        raise ValueError(f"{name!r} is not the name of a file")
    return name


def _no_folder(name: str) -> str:
    if name in _FOLDERS:
        raise ValueError(f"{name!r} is a folder of a campaign, not a file")
    return name


def _campaign(name: str) -> str:
    try:
        return paths.checked(name)
    except FsgreenError as error:
        raise ValueError(error.what) from None


FileName = Annotated[str, Field(max_length=NAME_B), AfterValidator(_plain)]
CampaignFile = Annotated[FileName, AfterValidator(_no_folder)]
Name = Annotated[str, Field(max_length=200), AfterValidator(_campaign)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, Field(max_length=100_000)]
Block = Annotated[int, Field(ge=1, le=1_000_000)]
Size = Annotated[int, Field(ge=0, le=1 << 50)]


class Order(Strict):
    """Measure up to the next rest; `plan_hash` is of the plan as it is for any testbed.

    By the design `replicate` a testbed measures all cells in an order of its own, by `baseline` the
    baseline alone, and by `share` only `blocks` of the plan, of which there are none at the end.
    """

    campaign: Name
    study: Name
    profile: Text
    plan_hash: Digest
    design: Literal["replicate", "baseline", "share"] = "replicate"
    blocks: tuple[Block, ...] = ()

    def goes_on(self, before: Order) -> bool:
        """Return whether this is the order before, with other blocks at most."""
        return self.model_copy(update={"blocks": before.blocks}) == before


class Refusal(Strict):
    """Why something is not done, as an error says it."""

    what: Text
    where: Text | None = None
    next_step: Text | None = None

    @classmethod
    def of(cls, error: FsgreenError) -> Self:
        """Return an error as it is sent."""
        return cls(what=error.what, where=error.where, next_step=error.next_step)

    def error(self) -> FsgreenError:
        """Return the error that was sent, without what a terminal would obey."""
        what, where, next_step = (
            "".join(sign for sign in text or "" if sign.isprintable() or sign == "\n")
            for text in (self.what, self.where, self.next_step)
        )
        return FsgreenError(what, where=where or None, next_step=next_step or None)


class Rest(Strict):
    """How far a testbed is: at `rest` between trials, `done`, or ended for the reason `why`.

    `fell` is a harness that ended without a word. `rested_s` is how long the rest before lasted.
    """

    state: Literal["rest", "done", "refused", "fell"]
    rested_s: float = 0.0
    why: Refusal | None = None


class Which(Strict):
    """A campaign, by its name at home: that of the testbed is not part of it."""

    campaign: Name


class Shelf(Strict):
    """What a worker has of a campaign: SHA-256 of its files, and of the record of each trial."""

    files: dict[CampaignFile, Digest]
    trials: dict[FileName, Digest]
    invalid: dict[FileName, Digest]


class Place(Strict):
    """A file from an offset on: of a trial in one of the folders, or of the campaign itself."""

    campaign: Name
    folder: Literal["trials", "invalid"] | None = None
    trial: FileName | None = None
    file: FileName
    offset_b: Size = 0


class Piece(Strict):
    """Some bytes of a file, and how many it has."""

    data: Annotated[bytes, Field(max_length=PIECE_B)]
    size_b: Size


def parsed(schema: type[Message], values: object, sender: str) -> Message:
    """Return a message; raises FsgreenError where what was sent is none."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        wrong = "; ".join(fault.what for fault in faults_of(schema, error, values)[:3])
        raise FsgreenError(
            f"{sender} sent no {schema.__name__}: {''.join(filter(str.isprintable, wrong))}",
            where=sender,
            next_step="have the same version of fsgreen on both machines",
        ) from None
