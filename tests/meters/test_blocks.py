import socket
import threading
import time
from contextlib import closing

import numpy as np
import pytest
from asked import free_port
from fast_meters import block
from faulty_blocks import Emulator

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks import driver as blocks
from fsgreen.meters.blocks.description import BlocksSettings
from fsgreen.meters.blocks.driver import open_blocks
from fsgreen.meters.blocks.format import address_of
from fsgreen.meters.blocks.parser import BlockParser
from fsgreen.meters.blocks.sender import Link
from tests.patience import leaves_nothing, listen, until_calm, wait_for

ENTRY = {
    "name": "ssd",
    "driver": "blocks",
    "gain_error": 0.01,
    "constant_error_w": 0.05,
    "source": "bench",
}


def opened(**entry):
    return closing(open_blocks(BlocksSettings.of(ENTRY | entry), lambda: None))


def more_than(count):
    return lambda readings: len(readings) > count


def flagged(flag):
    return lambda readings: flag in readings.flags.values()


def wait_for_samples(emulator):
    """Wait until an emulated sender has taken samples, whoever gets them."""
    taken = emulator.sent_count
    wait_for(lambda: emulator.sent_count > taken)


def half_an_ampere(_):
    return 0.5


def over(way):
    """An emulated sender that is reached by one of the three ways, and the settings for it."""
    if way == "connect":
        link = Link(("127.0.0.1", 0), listen=True)
        return Emulator(link, half_an_ampere), {"connect": f"127.0.0.1:{link.port}"}
    protocol = "udp" if way == "udp" else "tcp"
    port = free_port(socket.SOCK_DGRAM if way == "udp" else socket.SOCK_STREAM)
    entry = {"listen": f"{port}", "protocol": protocol}
    return Emulator(Link(("127.0.0.1", port), protocol), half_an_ampere), entry


@pytest.mark.parametrize("way", ["connect", "listen", "udp"])
def test_sender_is_read_by_every_way(way):
    emulator, entry = over(way)
    emulator.drift_ppm = 100.0
    with emulator, opened(**entry, covers=["drive"]) as meter:
        info = meter.describe()
        assert (info.boundary, info.covers, info.serial) == ("modelled", ("drive",), "emulated")
        assert info.rate_hz == 1e4
        meter.start()
        readings = listen(meter, BlockParser(info), until=more_than(2000))
        meter.stop()
    assert not readings.flags
    assert readings.power_w == pytest.approx(2.5)


def test_measuring_sender_has_the_boundary_of_the_settings():
    link = Link(("127.0.0.1", 0), listen=True)
    emulator = Emulator(link, half_an_ampere, modelled=False)
    with emulator, opened(connect=f"127.0.0.1:{link.port}") as meter:
        assert meter.describe().boundary == "dc-rail"


def test_trial_holds_nothing_from_before_its_start():
    def first_s():
        emulator, entry = over("connect")
        with emulator, opened(**entry) as meter:
            meter.start()
            meter.stop()
            time.sleep(0.5)
            wait_for_samples(emulator)
            started_s = time.monotonic()
            meter.start()
            readings = listen(meter, BlockParser(meter.describe()), until=more_than(1000))
        return readings.time_s[0] - started_s

    # A sender that stood still sends late what it took before.
    assert until_calm(first_s, lambda found_s: found_s > -0.4) > -0.4


@pytest.mark.parametrize("fault", ["drop", "corrupt", "duplicate", "reorder"])
def test_faults_of_the_network_are_flagged_where_they_cost_samples(fault):
    costs = fault in ("drop", "corrupt")
    emulator, entry = over("udp")
    with emulator, opened(**entry) as meter:
        parser = BlockParser(meter.describe())
        meter.start()
        before = listen(meter, parser, until=more_than(1000))
        setattr(emulator.faults, fault, 1)
        after = listen(meter, parser, until=flagged("lost") if costs else more_than(4000))
    assert not before.flags
    assert set(after.flags.values()) == ({"lost"} if costs else set())
    assert np.diff(after.time_s).max() < (0.06 if costs else 1.1e-4)


def test_silence_and_new_start_of_a_sender_are_losses():
    emulator, entry = over("udp")
    with emulator, opened(**entry) as meter:
        parser = BlockParser(meter.describe())
        meter.start()
        listen(meter, parser, until=more_than(1000))
        emulator.faults.stall = True
        time.sleep(0.3)
        wait_for_samples(emulator)
        emulator.faults.stall = False
        stalled = listen(meter, parser, until=flagged("lost"))
        emulator.restart()
        restarted = listen(meter, parser, until=flagged("lost"))
        emulator.restart("another")
        another = listen(meter, parser, until=flagged("inconsistent"))
    assert list(stalled.flags.values()) == ["lost"]
    assert list(restarted.flags.values()) == ["lost"]
    assert "inconsistent" in another.flags.values()
    assert np.isnan(another.power_w[-1])


def test_clipped_current_of_an_emulated_sender_is_flagged():
    link = Link(("127.0.0.1", 0), listen=True)
    with Emulator(link, lambda _: 5.0), opened(connect=f"127.0.0.1:{link.port}") as meter:
        meter.start()
        readings = listen(meter, BlockParser(meter.describe()), until=more_than(1000))
    assert set(readings.flags.values()) == {"clipped"}


@pytest.mark.parametrize("way", ["connect", "listen"])
def test_sender_that_vanishes_is_told_and_taken_again_when_it_returns(way):
    first, entry = over(way)
    port = first.link.port if way == "connect" else int(entry["listen"])
    with first:
        meter = open_blocks(BlocksSettings.of(ENTRY | entry), lambda: None)
        meter.start()
        wait_for(lambda: meter.read(1.0) is not None)
    with closing(meter):
        with pytest.raises(FsgreenError, match="vanished"):
            while True:
                meter.read(0.5)
        link = Link(("127.0.0.1", port), listen=way == "connect")
        with Emulator(link, half_an_ampere):
            meter.start()
            wait_for(lambda: meter.read(1.0) is not None)


def test_another_sender_is_refused():
    emulator, entry = over("udp")
    with emulator, opened(**entry) as meter:
        emulator.restart("another")
        with pytest.raises(FsgreenError, match=r"not the same meter.*serial"):
            meter.start()


@pytest.mark.parametrize("way", ["connect", "listen", "udp"])
def test_nobody_there_is_told_and_leaves_nothing_open(way, monkeypatch):
    monkeypatch.setattr(blocks, "WAIT_S", 0.2)
    entry = {"connect": f"127.0.0.1:{free_port()}"}
    if way != "connect":
        entry = {"listen": f"{free_port()}", "protocol": "udp" if way == "udp" else "tcp"}
    told = r"does not answer|no sender called|no block within"
    with leaves_nothing(), pytest.raises(FsgreenError, match=told):
        open_blocks(BlocksSettings.of(ENTRY | entry), lambda: None)


def test_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as other:
        entry = ENTRY | {"listen": str(other.getsockname()[1])}
        with pytest.raises(FsgreenError, match="this address cannot be opened"):
            open_blocks(BlocksSettings.of(entry), lambda: None)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "no block stream"),
        (block().packed().replace(b"FSGB\x01", b"FSGB\x02"), "speaks version 2"),
        (block().packed()[:-1], "no block stream"),
    ],
)
def test_who_says_something_else_is_told(said, message, monkeypatch):
    monkeypatch.setattr(blocks, "WAIT_S", 3.0)

    def answer(server):
        with server.accept()[0] as line:
            line.sendall(said)
            line.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        with pytest.raises(FsgreenError, match=message):
            opened(connect=f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "give either listen or connect"),
        ({"listen": "1", "connect": "h:1"}, "give either listen or connect"),
        ({"connect": "h:1", "protocol": "udp"}, "can only listen"),
        ({"listen": "host"}, "not HOST:PORT"),
        ({"listen": "host:99999"}, "not HOST:PORT"),
        ({"listen": "1", "protocol": "sctp"}, "protocol: takes tcp or udp"),
        ({"listen": "1", "port": 1}, "unknown key port"),
    ],
)
def test_wrong_setting_is_named(entry, message):
    with pytest.raises(FsgreenError, match=message):
        open_blocks(BlocksSettings.of(ENTRY | entry), lambda: None)


def test_meter_that_was_not_started_says_so():
    emulator, entry = over("connect")
    with emulator, opened(**entry) as meter, pytest.raises(FsgreenError, match="not started"):
        meter.read(0.1)


def test_address_without_a_host_is_this_machine():
    assert address_of("5005") == address_of(":5005") == ("127.0.0.1", 5005)
    assert address_of("[::1]:5005") == ("::1", 5005)
