"""A server that speaks the control protocol of a simulated disk and says what a test wants."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import Any

from fsgreen.simdisk.power import PowerTrace

Answer = Callable[[dict[str, Any]], bytes]


@contextmanager
def serving(path: Path, answer: Answer) -> Iterator[None]:
    """Answer each line at a socket with what `answer` makes of its object; b"" hangs up."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=_serve, args=(listener, answer), daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
    path.unlink()


def _serve(listener: socket.socket, answer: Answer) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, connection.makefile("rb") as lines:
            for line in lines:
                said = answer(json.loads(line))
                if not said:
                    break
                connection.sendall(said)


def line(**values: Any) -> bytes:
    """Return an answer: these values as a line of JSON."""
    return json.dumps(values).encode() + b"\n"


def drawn_fj(trace: PowerTrace, begin_ns: int, end_ns: int) -> int:
    """Return the energy of a span that a trace covers."""
    assert trace.times_ns[0] <= begin_ns <= end_ns <= trace.until_ns
    bounds_ns = [min(max(at, begin_ns), end_ns) for at in [*trace.times_ns, end_ns]]
    spans_ns = [later - one for one, later in pairwise(bounds_ns)]
    return sum(map(mul, spans_ns, trace.power_uw))
