"""Shared by mains plugs with a web server: a question over HTTP, and an answer in JSON."""

from __future__ import annotations

from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import Answer, AnswerParser, at, json_object, number
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.core.settings import Above0, From0, GainError, MeterSettings
from fsgreen.trace import MeterInfo

TIMEOUT_S = 2.0
MAX_ANSWER_B = 65536
ASSUMED_GAIN = 0.05
ASSUMED_W = 1.0


class PlugSettings(MeterSettings):
    """The settings of every plug; makers document no accuracy, so the defaults are assumed."""

    host: str
    """The address of the plug, with :PORT if the port is not 80."""
    interval_s: Above0 = 1.0
    range_w: Above0
    resolution_w: From0
    gain_error: GainError = ASSUMED_GAIN
    constant_error_w: From0 = ASSUMED_W

    def indicative(self, *, asked: str, **known: Any) -> MeterInfo:
        """Return the description: the `known` fields, the question `asked`, and the accuracy."""
        assumed = (self.gain_error, self.constant_error_w) == (ASSUMED_GAIN, ASSUMED_W)
        whose = (
            "assumed, since the maker documents no accuracy" if assumed else "as set by the user"
        )
        return self.info(
            boundary=self.boundary or "wall",
            rate_hz=1 / self.interval_s,
            source=f"indicative: a consumer plug, {100 * self.gain_error:g} % and "
            f"{self.constant_error_w:g} W {whose}; {asked}",
            **known,
        )


def get(host: str, path: str) -> bytes:
    """Return the body of a plug's answer, as far as it came; raises FsgreenError without one."""
    from http.client import HTTPConnection, HTTPException, IncompleteRead

    where = f"http://{host}{path}"
    try:
        connection = HTTPConnection(host, timeout=TIMEOUT_S)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            answer = connection.getresponse()
            try:
                body = answer.read(MAX_ANSWER_B)
            except IncompleteRead as cut:
                body = cut.partial
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError, OverflowError) as error:
        raise FsgreenError(
            f"the plug does not answer: {error or type(error).__name__}",
            where=where,
            next_step=f"check the plug's power, network and address: curl '{where}'",
        ) from error
    if answer.status in (401, 403):
        raise locked(where)
    if answer.status != 200:
        raise FsgreenError(
            f"the plug answers with HTTP status {answer.status} {answer.reason}",
            where=where,
            next_step=f"check that this is the plug's address and kind: curl -i '{where}'",
        )
    return body


def locked(where: str) -> FsgreenError:
    """Return the error for a plug that asks for a password."""
    return FsgreenError(
        "the plug asks for a password",
        where=where,
        next_step="turn the password of its web page off during the measurement, and put it on a "
        "network of its own: fsgreen would send a password unencrypted",
    )


class PlugParser(AnswerParser):
    """Readings of a plug.

    Flags: cut, bad-number, switched-off (the relay is open: the plug's 0 W is no measurement),
    underflow (0 W with the relay closed: below what the plug resolves), and those of `Checks`.
    """

    slack_va = 5.0
    """Below this, the pulses of a plug's chip take over a second: V * I says nothing about W."""


def judged(answer: Answer, *, on: bool, broken: bool = False) -> Answer:
    """Return an answer; if its power was not measured, remove the power and flag the reason."""
    if not on:
        answer.flags.append("switched-off")
    elif broken:
        answer.flags.append("missing")
    elif answer.power_w == 0:
        answer.flags.append("underflow")
    else:
        return answer
    answer.power_w = NAN
    return answer


class Document:
    """A JSON answer that is read by path; `flags` says what could not be read.

    cut: no whole JSON object. bad-number: a value of another type, or not finite. A missing value
    is NaN or None, without a flag.
    """

    def __init__(self, data: bytes) -> None:
        self._tree = json_object(data)
        self.flags = ["cut"] if self._tree is None else []

    def at(self, *path: str | int) -> Any:
        """Return the value at a path of keys and places; None if there is none."""
        return at(self._tree, *path)

    def number(self, *path: str | int) -> float:
        """Return the finite number at a path, else NaN."""
        here = self.at(*path)
        value = number(here)
        if here is not None and value != value:
            self.flags.append("bad-number")
        return value

    def text(self, *path: str | int) -> str:
        """Return the text or number at a path as text; "" if there is none."""
        value = self.at(*path)
        return str(value) if isinstance(value, (str, int)) else ""
