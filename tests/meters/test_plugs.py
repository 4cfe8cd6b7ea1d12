import subprocess
import sys
from contextlib import closing

import pytest
from asked import opened, read, trial
from faulty_plugs import PLUGS

from fsgreen.errors import FsgreenError
from fsgreen.meters.plugs import plug as plug_module
from fsgreen.meters.plugs import shelly, tasmota
from tests.patience import leaves_nothing

DRIVERS = {"shelly1": shelly.DRIVER, "shelly2": shelly.DRIVER, "tasmota": tasmota.DRIVER}
QUESTIONS = {
    "shelly1": (["/shelly"], ["/status"]),
    "shelly2": (["/shelly"], ["/rpc/Switch.GetStatus?id=0"]),
    "tasmota": (
        ["/cm?cmnd=Status%202", "/cm?cmnd=Status%205"],
        ["/cm?cmnd=Status%208", "/cm?cmnd=Power1"],
    ),
}


@pytest.fixture(params=sorted(DRIVERS))
def plug(request):
    with PLUGS[request.param](lambda: 97.3) as emulated:
        yield emulated


def meter_of(plug, **changed):
    return opened(DRIVERS[plug.kind], host=plug.host, **({"interval_s": 0.05} | changed))


def one_answer(plug, meter):
    chunk = meter.read(1.0)
    (reading,) = read(DRIVERS[plug.kind], meter.describe(), chunk.data)
    return reading


def test_plug_is_asked_who_it_is_at_every_start_and_never_switched(plug):
    identity, question = QUESTIONS[plug.kind]
    with closing(meter_of(plug)) as meter:
        trial(meter, DRIVERS[plug.kind], 2)
    assert plug.received == [*identity, *question, *identity, *question, *question]


def test_description_says_that_the_plug_is_indicative(plug):
    with closing(meter_of(plug)) as meter:
        info = meter.describe()
    assert info.serial == plug.mac
    assert info.source.startswith("indicative")
    assert "assumed" in info.source
    assert (info.gain_error, info.constant_error_w) == (0.05, 1.0)
    assert info.boundary == "wall"
    assert "indicative" in DRIVERS[plug.kind].summary


def test_a_name_that_its_owner_gave_a_plug_does_not_leave_as_its_model():
    """It is in what `fsgreen pack` and `fsgreen export` write, and says whose plug it is."""
    with PLUGS["tasmota"](lambda: 97.3) as plug, closing(meter_of(plug)) as meter:
        assert plug.document("/cm?cmnd=Status%205")["StatusNET"]["Hostname"] == "plug-1"
        assert meter.describe().model == "Tasmota 14.2.0(tasmota), ESP8266EX"


def test_accuracy_of_ones_own_is_not_called_assumed(plug):
    with closing(meter_of(plug, gain_error=0.01, constant_error_w=0.5)) as meter:
        info = meter.describe()
    assert (info.gain_error, info.constant_error_w) == (0.01, 0.5)
    assert "assumed" not in info.source


def test_watts_are_the_loads(plug):
    with closing(meter_of(plug)) as meter:
        (reading,) = trial(meter, DRIVERS[plug.kind], 1)
    assert (reading.power_w, reading.quality) == (97.3, "ok")
    assert reading.energy_wh == pytest.approx(41573, abs=1)


@pytest.mark.parametrize(
    ("fault", "flag"), [("half", "cut"), ("wrong-type", "bad-number"), ("negative", "negative")]
)
def test_answer_that_is_not_sound_is_flagged(plug, fault, flag):
    with closing(meter_of(plug)) as meter:
        meter.start()
        plug.fault = fault
        assert flag in one_answer(plug, meter).quality.split("|")


def test_plug_switched_off_in_a_trial_is_flagged_not_zero(plug):
    with closing(meter_of(plug)) as meter:
        meter.start()
        plug.on = False
        reading = one_answer(plug, meter)
    assert reading.quality == "switched-off"
    assert reading.power_w != reading.power_w


def test_plug_that_is_off_is_refused_before_the_trial(plug):
    plug.on = False
    with pytest.raises(FsgreenError, match="gives no power: switched-off"):
        meter_of(plug)


@pytest.mark.parametrize(
    ("fault", "what", "timeout_s"),
    [("error", "HTTP status 500", plug_module.TIMEOUT_S), ("silent", "does not answer", 0.2)],
)
def test_plug_that_fails_is_a_fault_and_works_again_when_started_again(
    plug, monkeypatch, fault, what, timeout_s
):
    with closing(meter_of(plug)) as meter:
        meter.start()
        plug.fault = fault
        with monkeypatch.context() as asked, pytest.raises(FsgreenError, match=what) as caught:
            asked.setattr(plug_module, "TIMEOUT_S", timeout_s)
            meter.read(1.0)
        assert "curl" in caught.value.next_step
        meter.close()
        plug.fault = None
        (reading,) = trial(meter, DRIVERS[plug.kind], 1)
    assert reading.quality == "ok"


def test_another_plug_at_the_same_address_is_refused(plug):
    with closing(meter_of(plug)) as meter:
        plug.mac = "001122334455"
        with pytest.raises(FsgreenError, match=r"not the same meter.*serial"):
            meter.start()


def test_plug_with_a_password_is_refused_with_the_remedy(plug):
    plug.locked = True
    with pytest.raises(FsgreenError, match="asks for a password") as caught:
        meter_of(plug)
    assert "network of its own" in caught.value.next_step


def test_what_is_no_plug_of_this_kind_is_refused(plug):
    other = tasmota.DRIVER if plug.kind.startswith("shelly") else shelly.DRIVER
    with pytest.raises(FsgreenError):
        opened(other, host=plug.host)


@pytest.mark.parametrize(
    ("kind", "changed", "what"),
    [
        ("shelly1", {"channel": 1}, "gives no power: missing"),
        ("shelly2", {"component": "PM1"}, "HTTP status 404"),
        ("tasmota", {"relay": 2}, "no relay 2"),
        ("tasmota", {"relay": 0}, "relay: takes a number from 1 on"),
    ],
)
def test_channel_without_a_meter_is_refused(kind, changed, what):
    with PLUGS[kind](lambda: 97.3) as plug, pytest.raises(FsgreenError, match=what):
        meter_of(plug, **changed)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:1", "127.0.0.1:99999", "no such host", "http://127.0.0.1", "", "a" * 300]
)
@pytest.mark.parametrize("driver", [shelly.DRIVER, tasmota.DRIVER], ids=lambda driver: driver.name)
def test_address_where_nobody_answers_is_told(driver, host):
    with pytest.raises(FsgreenError, match="does not answer") as caught:
        opened(driver, host=host)
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"interval_s": 0}, "interval_s: takes a number above 0"),
        ({"gain_error": 1.5}, "gain_error: takes a number below 1, not 1.5"),
        ({"gain_error": -1}, "gain_error: takes a number from 0 on"),
        ({"interval": 1}, "unknown key interval, did you mean interval_s. Known: boundary, "),
        ({"boundary": "roof"}, "boundary: takes wall"),
    ],
)
def test_wrong_setting_is_named_before_anything_is_sent(plug, changed, what):
    with pytest.raises(FsgreenError, match=what):
        meter_of(plug, **changed)
    assert not plug.received


@pytest.mark.parametrize("kind", sorted(DRIVERS))
def test_closed_meter_and_plug_leave_no_thread_and_no_descriptor(kind):
    with leaves_nothing(), PLUGS[kind](lambda: 97.3) as plug, closing(meter_of(plug)) as meter:
        trial(meter, DRIVERS[kind], 1)


def test_naming_the_drivers_loads_no_protocol():
    """What is only listed must cost nothing: pandas brings some of these by itself."""
    code = """
import sys, fsgreen.meters
before = set(sys.modules)
from fsgreen.meters.core import registry
for name in registry.names():
    registry.load(name)
print(*(set(sys.modules) - before))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.returncode == 0, loaded.stderr
    roots = {name.partition(".")[0] for name in loaded.stdout.split()}
    assert not roots & {"asyncio", "http", "urllib", "pyvisa", "pysnmp", "pyasn1", "socketserver"}
