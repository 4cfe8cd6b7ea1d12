from contextlib import closing, suppress

import pytest
from wattsup_texts import HEADER, VERSION, dialogue, record, told

from fsgreen.errors import FsgreenError
from fsgreen.meters.wattsup import driver as wattsup_driver
from fsgreen.meters.wattsup.driver import WattsUp, WattsUpSettings
from tests.patience import leaves_nothing, listen_for_chunks, until_calm
from tests.traces import parse

STOP = ("#L,R,0;", "")
START = ("#L,W,3,E,0,1;", record())
OPENING = (STOP, ("#V,R,0;", VERSION), ("#H,R,0;", HEADER), START, STOP)


def meter_on(port, **entry):
    return WattsUp(WattsUpSettings(name="system", driver="wattsup", port=port, **entry))


def heard(meter):
    """Chunks of a meter that was started, up to its first record."""
    return listen_for_chunks(meter, lambda chunks: parse(chunks, meter.describe()))


def test_opening_identifies_the_meter_and_clears_nothing():
    """The script holds every byte that is sent: no command that clears memory is among them."""
    with dialogue(*OPENING) as port, closing(meter_on(port, covers=("server",))) as meter:
        info = meter.describe()
    assert info.model == "Watts Up? PRO, hardware 5.0, firmware 7.8"
    assert (info.serial, info.power_cycles) == ("20090101", 3)
    assert (info.boundary, info.covers) == ("wall", ("server",))
    assert "#L,W,3,E,0,1;" in info.source


def test_raw_bytes_of_a_trial_hold_the_header_that_explains_them():
    again = (STOP, ("#H,R,0;", HEADER), START, STOP)
    with dialogue(*OPENING, *again) as port, closing(meter_on(port)) as meter:
        meter.start()
        chunks = heard(meter)
        meter.stop()
        (reading,) = parse(chunks, meter.describe())
    assert reading.power_w == pytest.approx(234.5)
    assert reading.quality == "ok"
    assert b"#h," in b"".join(chunk.data for chunk in chunks)


def test_stale_record_between_command_and_reply_is_no_reply():
    opening = (STOP, ("#V,R,0;", record() + VERSION), ("#H,R,0;", record() + HEADER), START, STOP)
    with dialogue(*opening) as port, closing(meter_on(port)) as meter:
        assert meter.describe().serial == "20090101"


@pytest.mark.parametrize("accepted", ["-", ""])
def test_reserved_argument_falls_back_and_what_worked_is_recorded_and_kept(accepted):
    tried = ["0", "-", ""][: ["0", "-", ""].index(accepted)]
    refused = [(f"#L,W,3,E,{r},1;", VERSION) for r in tried]
    good = (f"#L,W,3,E,{accepted},1;", record())
    script = [*OPENING[:3], *refused, good, STOP, STOP, ("#H,R,0;", HEADER), good]
    with dialogue(*script) as port, closing(meter_on(port)) as meter:
        assert good[0] in meter.describe().source
        meter.start()
        assert heard(meter)


def test_meter_that_ignores_the_reserved_argument_is_tried_with_the_next(monkeypatch):
    monkeypatch.setattr(wattsup_driver, "REPLY_S", 1.0)
    script = [*OPENING[:3], ("#L,W,3,E,0,1;", ""), ("#L,W,3,E,-,1;", record()), STOP]

    def opened():
        with (
            suppress(FsgreenError, AssertionError),
            dialogue(*script) as port,
            closing(meter_on(port)) as meter,
        ):
            return meter.describe().source
        return ""

    assert "#L,W,3,E,-,1;" in until_calm(opened, bool)


def failing(port):
    with pytest.raises(FsgreenError) as caught:
        meter_on(port)
    assert caught.value.where == port
    assert caught.value.next_step
    return caught.value.what


def test_missing_port_is_named():
    assert "missing" in failing("/dev/serial/by-id/no-such-meter")


def test_file_that_is_no_port_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("no meter")
    assert "no serial port" in failing(str(tmp_path / "notes.txt"))


def test_port_in_use_by_another_is_busy():
    with dialogue(*OPENING) as port, closing(meter_on(port)):
        assert "busy" in failing(port)


def test_port_without_an_answer_is_silent(monkeypatch):
    monkeypatch.setattr(wattsup_driver, "REPLY_S", 0.3)
    with dialogue(STOP, ("#V,R,0;", "")) as port:
        assert "silent" in failing(port)


@pytest.mark.parametrize("noise", ["\xff\xfe~" * 20, "hello\r\n", "#v,-,8,1,0;", "#v,-,1,1;"])
def test_port_with_another_language_speaks_garbage(monkeypatch, noise):
    monkeypatch.setattr(wattsup_driver, "REPLY_S", 1.0)
    assert "garbage" in told(failing, "garbage", STOP, ("#V,R,0;", noise))


def test_meter_without_readings_is_refused(monkeypatch):
    monkeypatch.setattr(wattsup_driver, "REPLY_S", 1.0)
    mute = [(f"#L,W,3,E,{r},1;", "") for r in ("0", "-", "")]
    assert "no readings" in told(failing, "no readings", *OPENING[:3], *mute)


def test_failed_opening_leaves_the_port_free(monkeypatch):
    monkeypatch.setattr(wattsup_driver, "REPLY_S", 0.1)
    with leaves_nothing(), dialogue(STOP, ("#V,R,0;", "")) as port:
        failing(port)


def test_lost_meter_is_opened_again_by_start():
    again = (STOP, ("#H,R,0;", HEADER), START)
    with dialogue(*OPENING, *OPENING, *again) as port, closing(meter_on(port)) as meter:
        meter.close()
        meter.start()
        assert heard(meter)


@pytest.mark.parametrize(
    ("version", "cycles", "names"),
    [(VERSION.replace("2009", "2010"), "3", "serial"), (VERSION, "4", "power_cycles")],
)
def test_another_meter_or_a_restarted_one_is_refused(version, cycles, names):
    other = (STOP, ("#V,R,0;", version), OPENING[2], (START[0], record(PC=cycles)), STOP)
    with dialogue(*OPENING, *other) as port, closing(meter_on(port)) as meter:
        meter.close()
        with pytest.raises(FsgreenError, match=f"not the same meter.*{names}"):
            meter.start()
