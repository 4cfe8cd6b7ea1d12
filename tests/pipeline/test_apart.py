"""Raw traces without base64: each comes back to the byte, or is left as it is."""

import base64
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.pipeline.apart import HEAD, put_together, taken_apart


def line(chunk: bytes) -> bytes:
    said = {"t": 1.5, "m": "disk", "b64": base64.b64encode(chunk).decode()}
    return json.dumps(said).encode() + b"\n"


@given(st.lists(st.binary(min_size=1), min_size=1), st.binary(max_size=30))
def test_a_trace_comes_back_to_the_byte(chunks: list[bytes], cut: bytes) -> None:
    raw = b"".join(map(line, chunks)) + cut
    apart = taken_apart(raw)
    assert apart is not None
    assert put_together(apart) == raw


def test_what_was_base64_is_bytes() -> None:
    apart = taken_apart(line(bytes(300)) + line(b"\xff" * 3))
    assert apart is not None
    assert apart.endswith(bytes(300) + b"\xff" * 3) and b"////" not in apart


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b'{"t": 1.0, "m": "system", "b": "#d,-,18;"}\n',
        b'{"b64": "AAE"}\n',  # no whole base64
        b'{"b64": "AB=="}\n',  # bits that its bytes do not have
        b'{"b64": "AAEC", "b64": 3}\n',
        b'{"t": 1.0, "m": "disk", "b64": "AAEC',  # a harness that was killed
    ],
)
def test_a_trace_that_would_come_back_otherwise_is_left_as_it_is(raw: bytes) -> None:
    assert taken_apart(raw) is None


@given(st.binary())
def test_garbage_is_told(garbage: bytes) -> None:
    with pytest.raises(ValueError, match="apart"):
        put_together(garbage)


@pytest.mark.parametrize("change", [lambda apart: apart[:-1], lambda apart: apart + b"x"])
def test_a_trace_with_too_few_or_too_many_bytes_is_told(
    change: Callable[[bytes], bytes],
) -> None:
    apart = taken_apart(line(bytes(10)))
    assert apart is not None
    with pytest.raises(ValueError, match="missing, or are too many"):
        put_together(change(apart))


def test_a_count_of_too_many_digits_is_told() -> None:
    lines = b'{"b64": ' + b"9" * 5000 + b"}"
    with pytest.raises(ValueError, match="digits"):
        put_together(b"%b%d\n%b" % (HEAD, len(lines), lines))
