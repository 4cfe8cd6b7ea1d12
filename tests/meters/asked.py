"""Scripts for meters that are asked over a network, and what may happen to their answers."""

import os
import random
import socket
import socketserver
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st

from fsgreen.meters.core.base import Chunk
from tests.patience import listen

FUZZ = settings(max_examples=round(300 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1")))))


def opened(driver, **table):
    """A meter opened by its driver with these settings."""
    return driver.open(
        driver.settings.of({"name": "system", "driver": driver.name, **table}), lambda: None
    )


def read(driver, info, *answers):
    """Readings of answers that come one a second, from second 1."""
    parser = driver.parser(info)
    chunks = (Chunk(float(second), answer) for second, answer in enumerate(answers, 1))
    return [reading for chunk in chunks for reading in parser.feed(chunk)]


def trial(meter, driver, count):
    """The first readings of a trial."""
    meter.start()
    parser = driver.parser(meter.describe())
    readings = listen(meter, parser, until=lambda readings: len(readings) >= count)
    meter.stop()
    return list(readings)


def free_port(kind=socket.SOCK_STREAM):
    """A port that nobody has, of those that the kernel gives to nobody by itself."""
    given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.SystemRandom().sample(range(max(1024, given - 10_000), given), 100):
        with suppress(OSError), socket.socket(socket.AF_INET, kind) as held:
            held.bind(("127.0.0.1", port))
            return port
    raise AssertionError("each of a hundred ports is taken")


@contextmanager
def conversation(*pairs):
    """A port that hears exactly these lines and answers them; fails on anything left over."""
    left, problems = list(pairs), []

    class Talk(socketserver.StreamRequestHandler):
        def handle(self):
            for line in self.rfile:
                heard = line.decode().rstrip("\n")
                if not left or left[0][0] != heard:
                    problems.append(f"heard {heard!r}, expected {left[:1]}")
                    return
                _, answer = left.pop(0)
                self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                self.wfile.write(answer.encode("latin-1"))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
    assert not problems, problems
    assert not left, f"never heard: {left}"


def mutated(sound):
    """Sound bytes, cut, doubled, or with a stretch replaced."""
    place = st.integers(0, len(sound))
    return st.tuples(place, place, st.binary(max_size=8)).map(
        lambda m: sound[: min(m[:2])] + m[2] + sound[max(m[:2]) :]
    )
