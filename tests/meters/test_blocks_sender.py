"""The program that sends blocks of samples: all that it is given, in order, and nothing else."""

import socket
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from asked import free_port

from fsgreen.meters.blocks.emulator import RAIL_5V
from fsgreen.meters.blocks.format import Channel, blocks_of
from fsgreen.meters.blocks.sender import Link, Sender, loaded, made_up_a, main, paced

CHANNEL = "5V A 0.001 -2 0 4095"


SAMPLES = np.arange(4000, dtype="<i2")


def heard(server):
    """All blocks that are sent on one connection until its end."""
    with server.accept()[0] as line:
        data = b""
        while piece := line.recv(1 << 16):
            data += piece
    found, rest = blocks_of(data)
    assert rest == b""
    return found


def arguments_to(server):
    to = f"127.0.0.1:{server.getsockname()[1]}"
    return ["--to", to, "--rate", "20000", "--every", "0.05", "--channel", CHANNEL, "--serial", "h"]


def check_sent(found):
    assert np.array_equal(np.concatenate([one.samples[:, 0] for one in found]), SAMPLES)
    assert [one.sequence for one in found] == list(range(len(found)))
    assert {(one.serial, one.modelled) for one in found} == {("h", False)}


def test_program_sends_what_another_writes():
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-m", "fsgreen.meters.blocks.sender", *arguments_to(server)]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as program:
            program.stdin.write(SAMPLES.tobytes() + b"x")
            program.stdin.close()
            found = heard(server)
    assert program.returncode == 0
    check_sent(found)


def test_program_sends_a_file(tmp_path):
    (tmp_path / "samples").write_bytes(SAMPLES.tobytes() + b"x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        main([*arguments_to(server), "--source", str(tmp_path / "samples")])
        check_sent(heard(server))


def test_made_up_load_is_called_modelled():
    with socket.create_server(("127.0.0.1", 0)) as server:
        link = Link(server.getsockname())
        channels = [Channel.of(CHANNEL)]
        sender = Sender(link, channels, 1000.0, "x", modelled=True)
        batches = paced(loaded(channels, 1000.0, made_up_a, 5.0), 1000.0, 0.02)
        with closing(link):
            for _ in range(3):
                sender.send(*next(batches))
        (first, *_) = found = heard(server)
    assert len(found) == 3
    assert first.modelled
    assert first.samples[:, 0] * 0.001 - 2 == pytest.approx(0.2)


def test_sender_counts_what_nobody_took():
    port = free_port()
    link = Link(("127.0.0.1", port))
    sender = Sender(link, RAIL_5V, 1000.0, "x")
    samples = np.zeros((10, 2), dtype=np.int16)
    sender.send(0, samples)
    with socket.create_server(("127.0.0.1", port)) as server, closing(link):
        link._tried_s = 0.0
        sender.send(10**7, samples)
        link.hang_up()
        (found,) = heard(server)
    assert (found.first, found.sequence) == (10, 1)


@pytest.mark.parametrize(
    "text",
    ["", "5V", "5V A", "5V A 1", "A 1 0", "5V J 1 0", "5V A 0 0", "5V A nan 0", "5V A 1 0 5",
     "5V A 1 0 5 5", "5V A 1 0 0 70000", "a name that is long A 1 0"],
)  # fmt: skip
def test_wrong_channel_is_refused(text, capsys):
    with pytest.raises(ValueError):
        Channel.of(text)
    with pytest.raises(SystemExit):
        main(["--to", "127.0.0.1:1", "--rate", "10", "--channel", text])
    assert "--channel" in capsys.readouterr().err


def test_channel_may_have_a_name_of_several_words():
    assert Channel.of("12 V rail A 0.5 -1") == Channel("12 V rail", "A", 0.5, -1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--listen", "0", "--protocol", "udp"], "cannot listen"),
        (["--to", "127.0.0.1:1", *["--channel", CHANNEL] * 8], "no more than 8 channels"),
        (["--to", "127.0.0.1:1", "--serial", "x" * 17], "1 to 16 bytes"),
        (["--to", "127.0.0.1:1", "--every", "0"], "--every"),
        (["--to", "nowhere"], "--to"),
    ],
)
def test_wrong_option_of_the_program_is_named(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main([*arguments, "--rate", "10", "--channel", CHANNEL])
    assert message in capsys.readouterr().err


def test_source_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SystemExit, match="no-such-file"):
        main(["--to", "127.0.0.1:1", "--rate", "10", "--channel", CHANNEL,
              "--source", str(tmp_path / "no-such-file")])  # fmt: skip
