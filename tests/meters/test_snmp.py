import socket
import threading
import time
from contextlib import closing
from itertools import count, pairwise

import pytest
from asked import opened, read, trial

from fsgreen.errors import FsgreenError
from fsgreen.meters.snmp import driver as snmp
from fsgreen.meters.snmp import session as snmp_session
from fsgreen.meters.snmp import settings as snmp_settings
from fsgreen.meters.snmp.driver import DRIVER, UPTIME
from fsgreen.meters.snmp.emulator import Agent as SoundAgent
from fsgreen.meters.snmp.emulator import sentry_outlet
from fsgreen.meters.snmp.session import Access
from tests.patience import leaves_nothing

SENTRY, RARITAN = "1.3.6.1.4.1.1718.4.1", "1.3.6.1.4.1.13742.6"
OUTLET = tuple(f"{SENTRY}.8.3.1.{n}.1.1.5" for n in (7, 14, 6, 3))
KEYS = {"auth_key": "a-green-key", "priv_key": "a-quiet-key"}


def units():
    """The objects of a Server Technology and of a Raritan unit, in one agent."""
    begin_s = time.monotonic()
    power, energy, voltage, current = OUTLET
    objects = {
        UPTIME: ("TimeTicks", lambda: round(100 * (time.monotonic() - begin_s))),
        snmp.SYS_DESCR: ("OctetString", lambda: "Sentry Switched PDU\nversion 8.0"),
        snmp.SYS_NAME: ("OctetString", lambda: "pdu-1"),
        f"{SENTRY}.2.2.1.4.1": ("OctetString", lambda: "AAAA0001234"),
        power: ("Integer32", lambda: 97),
        energy: ("Integer32", lambda: 41573),
        voltage: ("Integer32", lambda: 2301),
        current: ("Integer32", lambda: 44),
        f"{RARITAN}.3.2.1.1.4.1": ("OctetString", lambda: "QFC3950619"),
    }
    for kind, (digits, value) in {1: (3, 440), 4: (1, 2301), 5: (1, 973), 8: (0, 41573)}.items():
        objects[f"{RARITAN}.3.3.4.1.7.1.1.{kind}"] = ("Unsigned32", lambda d=digits: d)
        objects[f"{RARITAN}.5.2.3.1.4.1.1.{kind}"] = ("Gauge32", lambda v=value: v)
    return objects


class Agent(SoundAgent):
    """`fault`: silent, text (for numbers), gone (no object where there was one)."""

    def __init__(self, *args):
        super().__init__(*args)
        self.fault = None
        self.received = []

    def read_variables(self, *asked, **options):
        from pysnmp.error import PySnmpError

        self.received.append(tuple(str(name) for name, _value in asked))
        if self.fault == "silent":  # pysnmp does not answer then
            raise PySnmpError("silent")
        return super().read_variables(*asked, **options)

    def value(self, oid):
        from pysnmp.proto import rfc1902, rfc1905

        if self.fault == "gone":
            return rfc1905.noSuchInstance
        return rfc1902.OctetString("n/a") if self.fault == "text" else super().value(oid)


@pytest.fixture(scope="module")
def one_agent():
    """An agent for all tests, as pysnmp reads its tables anew for each."""
    with Agent(units()) as emulated:
        yield emulated


@pytest.fixture(autouse=True)
def heard_however_late(monkeypatch):
    monkeypatch.setattr(snmp_session, "TIMEOUT_S", 60.0)


@pytest.fixture
def agent(one_agent):
    """That agent, sound."""
    one_agent.objects, one_agent.fault = units(), None
    one_agent.received.clear()
    return one_agent


def meter_of(agent, **changed):
    table = {
        "port": agent.port,
        "preset": "servertech-outlet",
        "index": "1.1.5",
        "interval_s": 0.05,
    } | changed
    return opened(DRIVER, host="127.0.0.1", **table)


def refused(agent, **changed):
    with pytest.raises(FsgreenError) as caught:
        meter_of(agent, **changed)
    return str(caught.value)


def test_only_the_objects_of_the_outlet_are_asked_for(agent):
    with closing(meter_of(agent)) as meter:
        (reading,) = trial(meter, DRIVER, 1)
    identity = (snmp.SYS_DESCR, snmp.SYS_NAME, f"{SENTRY}.2.2.1.4.1")
    question = (UPTIME, *OUTLET)
    assert agent.received == [identity, question, question, identity, question, question]
    assert (reading.power_w, reading.quality) == (97.0, "ok")


def test_emulated_outlet_gives_the_power_of_its_load():
    with (
        Agent(sentry_outlet(lambda: 97.3, "1.1.5")) as agent,
        closing(meter_of(agent, boundary="modelled")) as meter,
    ):
        (reading,) = trial(meter, DRIVER, 1)
        assert meter.describe().boundary == "modelled"
    assert (reading.power_w, reading.energy_wh, reading.quality) == (97.0, 0.0, "ok")


def test_description_names_the_unit_and_its_mib(agent):
    with closing(meter_of(agent)) as meter:
        info = meter.describe()
    assert info.model == "Sentry Switched PDU\\nversion 8.0"
    assert info.serial == "AAAA0001234"
    assert (info.boundary, info.resolution_w) == ("wall", 1.0)
    assert "Sentry4-MIB" in info.source
    assert "assumed" in info.source
    assert info.options["objects"]["current"] == [OUTLET[3], 0.01]


def test_raritans_decimal_digits_are_asked_for(agent):
    with closing(meter_of(agent, preset="raritan-inlet", index="1.1")) as meter:
        (reading,) = trial(meter, DRIVER, 1)
        assert meter.describe().serial == "QFC3950619"
    assert reading.power_w == pytest.approx(97.3)
    assert reading.voltage_v == pytest.approx(230.1)
    assert reading.current_a == pytest.approx(0.44)
    assert reading.energy_wh == 41573


@pytest.mark.parametrize("version", ["1", "2c"])
def test_old_versions_take_the_community_from_outside(monkeypatch, version):
    monkeypatch.setenv("PDU", "a-quiet-word")
    with Agent(units(), Access(community="a-quiet-word")) as agent:
        with monkeypatch.context() as impatient:
            impatient.setattr(snmp_session, "TIMEOUT_S", 0.2)
            impatient.setattr(snmp_session, "RETRIES", 0)
            assert "does not answer" in refused(agent, version=version)
        with closing(meter_of(agent, version=version, community_env="PDU")) as meter:
            assert meter.describe().serial == "AAAA0001234"


def version_3(folder, **keys):
    """The settings of SNMP 3, and the files that they name."""
    for key, value in keys.items():
        (folder / key).write_text(f"{value}\n")
    files = {f"{key}_file": str(folder / key) for key in keys}
    return {"version": "3", "user": "green", **files}


@pytest.mark.parametrize(("auth", "priv"), [("sha", "aes"), ("sha256", "aes256"), ("md5", "des")])
def test_version_3_takes_its_keys_from_outside(tmp_path, auth, priv):
    with Agent(units(), Access(version="3", user="green", auth=auth, priv=priv, **KEYS)) as agent:
        settings = version_3(tmp_path, **KEYS) | {"auth": auth, "priv": priv}
        with closing(meter_of(agent, **settings)) as meter:
            (reading,) = trial(meter, DRIVER, 1)
            described = repr(meter.describe())
    assert reading.power_w == 97.0
    assert not any(secret in described for secret in KEYS.values())


def test_wrong_key_is_told_without_the_key(tmp_path):
    settings = version_3(tmp_path, **(KEYS | {"auth_key": "another-key"}))
    with Agent(units(), Access(version="3", user="green", **KEYS)) as agent:
        message = refused(agent, **settings)
    assert "digest" in message.lower()
    assert "another-key" not in message


@pytest.mark.parametrize(
    ("keys", "changed", "what"),
    [
        ({}, {"user": ""}, "needs a user"),
        ({"priv_key": "a-quiet-key"}, {}, "without an authentication key"),
        ({"auth_key": "tiny"}, {}, "8 characters or more"),
    ],
)
def test_access_that_cannot_work_is_refused_without_a_question(
    agent, tmp_path, keys, changed, what
):
    message = refused(agent, **(version_3(tmp_path, **keys) | changed))
    assert what in message
    assert "tiny" not in message
    assert not agent.received


@pytest.mark.parametrize("secret", ["community", "auth_key", "priv_key"])
def test_secret_in_the_testbed_file_is_refused(agent, secret):
    message = refused(agent, **{secret: "a-quiet-word"})
    assert f"{secret} stands in the testbed file" in message
    assert "a-quiet-word" not in message


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"preset": "apc"}, "unknown preset 'apc'"),
        ({"index": ""}, "not the number of an outlet"),
        ({"index": "1.1.x"}, "not the number of an outlet"),
        ({"index": "1.1.6"}, f"does not measure {SENTRY}.8.3.1.7.1.1.6 (power)"),
        ({"power_oid": "enterprises.1"}, "not an OID in numbers"),
        ({"power_oid": "1.3.6.1"}, "power_oid needs its power_scale"),
        ({"interval_s": 0}, "interval_s: takes a number above 0"),
        ({"port": 99999}, "port: takes a number up to 65535"),
        ({"version": "2"}, "version: takes 1, 2c or 3"),
    ],
)
def test_wrong_setting_is_named(agent, changed, what):
    assert what in refused(agent, **changed)


def test_what_the_unit_does_not_measure_is_left_out(agent):
    power, energy, voltage, _ = OUTLET
    del agent.objects[voltage]
    agent.objects[energy] = ("Integer32", lambda: -1)
    with closing(meter_of(agent)) as meter:
        (reading,) = trial(meter, DRIVER, 1)
        assert meter.describe().options["objects"].keys() == {"power", "current"}
    assert (reading.power_w, reading.quality) == (97.0, "ok")
    agent.objects[power] = ("Integer32", lambda: -1)
    assert "does not measure" in refused(agent)


def test_meter_without_an_object_for_power_is_refused(agent):
    with pytest.raises(FsgreenError, match="no object for power"):
        opened(DRIVER, host="127.0.0.1", port=agent.port)


def test_objects_of_ones_own_need_no_preset(agent):
    own = {"power_oid": f".{OUTLET[0]}", "power_scale": 1.0}
    with closing(opened(DRIVER, host="127.0.0.1", port=agent.port, **own)) as meter:
        (reading,) = trial(meter, DRIVER, 1)
        assert meter.describe().serial == "pdu-1"
    assert reading.power_w == 97.0


def test_fine_counter_gives_power_by_itself_and_its_count_is_the_constant_error(agent):
    """The counter of this agent moves by 2.7 mWh at every question, however late it comes."""
    counts = count(41573, 2700)
    agent.objects[OUTLET[1]] = ("Counter64", lambda: next(counts))
    counter = {"energy_oid": OUTLET[1], "energy_scale": 1e-6, "counter_bits": 64}
    with closing(meter_of(agent, interval_s=0.1, range_w=1e6, **counter)) as meter:
        readings = trial(meter, DRIVER, 3)
        info = meter.describe()
    assert "power" not in info.options["objects"]
    assert info.constant_error_j == pytest.approx(0.0036)
    for before, now in pairwise(readings):
        assert now.power_w * (now.time_s - before.time_s) == pytest.approx(2.7e-3 * 3600)


def test_coarse_counter_leaves_power_to_its_own_object_unless_told(agent):
    with closing(meter_of(agent)) as meter:
        assert "power" in meter.describe().options["objects"]
    with closing(meter_of(agent, power_from="counter")) as meter:
        info = meter.describe()
    assert "power" not in info.options["objects"]
    assert info.constant_error_j == 3600.0


@pytest.mark.parametrize(("fault", "flag"), [("text", "bad-number"), ("gone", "missing")])
def test_objects_that_change_their_kind_are_flagged(agent, fault, flag):
    with closing(meter_of(agent)) as meter:
        meter.start()
        agent.fault = fault
        chunk = meter.read(1.0)
    (reading,) = read(DRIVER, meter.describe(), chunk.data)
    assert reading.quality == flag


def test_silent_agent_is_a_fault_and_works_again_when_started_again(agent):
    with closing(meter_of(agent)) as meter:
        meter.start()
        target = meter._session._target
        target.timeout, target.retries = 0.2, 0
        agent.fault = "silent"
        with pytest.raises(FsgreenError, match="does not answer"):
            meter.read(1.0)
        meter.close()
        agent.fault = None
        (reading,) = trial(meter, DRIVER, 1)
    assert reading.quality == "ok"


@pytest.mark.parametrize("noise", [b"", b"\x30", b"\xff" * 40, b"\x30\x82\xff\xff" + b"\0" * 40])
def test_noise_for_an_answer_is_no_answer(monkeypatch, noise):
    monkeypatch.setattr(snmp_session, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(snmp_session, "RETRIES", 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))

        def answer():
            _, asker = line.recvfrom(2048)
            line.sendto(noise, asker)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(FsgreenError, match="does not answer"):
            opened(DRIVER, host="127.0.0.1", port=line.getsockname()[1], preset="apc-rpdu2")
        thread.join()


def test_another_unit_at_the_same_address_is_refused(agent):
    with closing(meter_of(agent)) as meter:
        agent.objects[f"{SENTRY}.2.2.1.4.1"] = ("OctetString", lambda: "BBBB0001234")
        with pytest.raises(FsgreenError, match=r"not the same meter.*serial"):
            meter.start()


def test_host_without_an_address_is_told():
    with pytest.raises(FsgreenError) as caught:
        opened(DRIVER, host="no such host", preset="apc-rpdu2")
    assert caught.value.next_step


def test_closed_meter_leaves_no_thread_and_no_descriptor(agent):
    with leaves_nothing(), closing(meter_of(agent)) as meter:
        trial(meter, DRIVER, 1)
        meter.close()


def test_every_preset_names_power_energy_and_its_source():
    for facts in snmp_settings.presets().values():
        assert {"power", "energy", "source", "serial", "bits", "index"} <= facts.keys()
        for quantity in snmp_settings.QUANTITIES:
            assert facts.get(quantity, {"scale": 1}).keys() & {"scale", "digits"}


def test_missing_package_is_named(agent, monkeypatch):
    monkeypatch.setattr(snmp, "find_spec", lambda name: None)
    assert 'pip install "fsgreen[snmp]"' in DRIVER.missing()
    assert 'pip install "fsgreen[snmp]"' in refused(agent)
