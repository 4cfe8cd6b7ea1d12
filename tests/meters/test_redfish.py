import json
import math
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from polling import (
    answers,
    disturbed,
    flags,
    fuzzed,
    none_is_wrong,
    none_passes_when_cut,
    opened,
    parsed,
    power,
)
from redfish_service import Redfish
from traces import INFO

from fsgreen.errors import FsgreenError
from fsgreen.meters.redfish.driver import DRIVER
from fsgreen.meters.redfish.emulator import CHASSIS

ENVIRONMENT = f"{CHASSIS}/EnvironmentMetrics"
IDENTIFY = ["/redfish/v1/Chassis", CHASSIS]

CHASSIS_INFO = replace(
    INFO,
    driver="redfish",
    range_w=10_000.0,
    options={
        "power": [f"{ENVIRONMENT}#/PowerWatts/Reading"],
        "energy_kwh": [f"{ENVIRONMENT}#/EnergykWh/Reading"],
    },
)


@pytest.fixture(autouse=True)
def secrets(monkeypatch):
    monkeypatch.setenv("BMC_PASSWORD", "secret")
    monkeypatch.setenv("BMC_TOKEN", "token")
    # A proxy of the environment must not be asked: it would see the password.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")


def login(service, **more):
    return {"url": service.url, "user": "operator", "password_env": "BMC_PASSWORD", **more}


def answer(power_w, energy_kwh=12.5, **more):
    document = {"PowerWatts": {"Reading": power_w}, "EnergykWh": {"Reading": energy_kwh}, **more}
    return json.dumps({ENVIRONMENT: json.dumps(document)}).encode()


def one_reading(service, meter):
    meter.start()
    (chunk,) = answers(meter, 1)
    (reading,) = parsed(DRIVER, meter.describe(), chunk.data)
    meter.close()
    return reading


@pytest.mark.parametrize("tree", ["environment", "power", "supplies"])
def test_power_is_found_in_each_tree(tree):
    with Redfish(lambda: 231.5, trees=[tree]) as service:
        reading = one_reading(service, opened(DRIVER, **login(service)))
    assert (reading.power_w, reading.quality) == (231.5, "ok")
    assert reading.energy_wh == pytest.approx(
        12500.0 if tree == "environment" else math.nan, nan_ok=True
    )


def test_questions_are_those_that_the_readings_need_on_one_connection():
    with Redfish(lambda: 231.5) as service:
        meter = opened(DRIVER, rate_hz=5, **login(service))
        service.received.clear()
        meter.start()
        answers(meter, 2)
        meter.close()
        assert service.received == [*IDENTIFY, *[ENVIRONMENT] * 4]
        assert service.connections == 1


def test_tree_is_the_newest_that_gives_a_power_or_the_one_that_is_told():
    with Redfish(lambda: 231.5) as service:
        meter = opened(DRIVER, **login(service))
        assert meter.describe().options == CHASSIS_INFO.options
        meter.close()
        meter = opened(DRIVER, tree="power", **login(service))
        assert meter.describe().options["power"] == [
            f"{CHASSIS}/Power#/PowerControl/0/PowerConsumedWatts"
        ]
        meter.close()
        with pytest.raises(FsgreenError, match="tree: takes auto, environment"):
            opened(DRIVER, tree="new", **login(service))


def test_tree_that_is_there_but_empty_is_passed_over():
    with Redfish(lambda: 231.5, empty=["environment"]) as service:
        meter = opened(DRIVER, **login(service))
        assert "PowerControl" in meter.describe().options["power"][0]
        meter.close()
        with pytest.raises(FsgreenError, match="gives no power by environment"):
            opened(DRIVER, tree="environment", **login(service))


def test_description_names_the_chassis_and_holds_no_secret():
    with Redfish(lambda: 231.5) as service:
        meter = opened(DRIVER, **login(service))
        info = meter.describe()
        meter.close()
    assert (info.model, info.serial) == ("Emulated Server", "EMULATED1")
    assert (info.boundary, info.covers) == ("wall", ("system",))
    assert "secret" not in repr(info)


def test_session_token_is_an_alternative():
    with Redfish(lambda: 100.0) as service:
        meter = opened(DRIVER, url=service.url, token_env="BMC_TOKEN")
        assert one_reading(service, meter).power_w == 100.0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"user": "operator", "password": "secret"}, "stands in the testbed file"),
        ({"token": "token"}, "stands in the testbed file"),
        ({"user": "operator"}, "give user and password_env"),
        ({"password_env": "BMC_PASSWORD"}, "give user and password_env"),
        (
            {"user": "operator", "password_env": "BMC_PASSWORD", "token_env": "BMC_TOKEN"},
            "give user and password_env",
        ),
        ({"url": "http://bmc7"}, "only https"),
        ({"url": "ftp://127.0.0.1"}, "only https"),
        ({"url": "https://operator:secret@bmc7"}, "more than a host and a port"),
        ({"url": "https://bmc7/redfish/v1"}, "more than a host and a port"),
        ({"url": "https://bmc7:port"}, "no address"),
        ({"ca_file": "/no/such/file"}, "no file of certificates"),
        ({"rate_hz": 10}, "rate_hz: takes a number up to 5"),
        ({"verify": False}, "unknown key verify"),
    ],
)
def test_setting_that_is_wrong_or_unsafe_is_refused(table, message):
    with pytest.raises(FsgreenError, match=message) as caught:
        opened(DRIVER, **{"url": "https://127.0.0.1:9", **table})
    assert "secret" not in str(caught.value)


def test_wrong_password_is_told():
    with (
        Redfish(lambda: 1.0, password="other") as service,
        pytest.raises(FsgreenError, match="status 401") as caught,
    ):
        opened(DRIVER, **login(service))
    assert "password" in caught.value.next_step


@pytest.mark.parametrize(
    ("misbehaviour", "message"),
    [
        ("garbage", "no JSON object"),
        ("drop", "RemoteDisconnected"),
        ("redirect", "status 302"),
        ("null", "gives no power"),
    ],
)
def test_service_that_gives_no_power_is_refused(misbehaviour, message):
    with Redfish(lambda: 231.5) as service:
        service.misbehaviour = misbehaviour
        with pytest.raises(FsgreenError, match=message):
            opened(DRIVER, **login(service))


def test_service_that_does_not_answer_in_time_is_an_error():
    with Redfish(lambda: 231.5) as service:
        service.misbehaviour = "slow"
        with pytest.raises(FsgreenError, match="timed out"):
            opened(DRIVER, timeout_s=0.1, **login(service))


def test_service_that_is_not_there_is_an_error():
    with pytest.raises(FsgreenError, match="refused"):
        opened(DRIVER, url="http://127.0.0.1:9")


def test_value_that_is_null_for_a_while_is_flagged_and_the_next_is_sound():
    with Redfish(lambda: 231.5) as service:
        meter = opened(DRIVER, rate_hz=5, **login(service))
        meter.start()
        service.misbehaviour = "null"
        chunks = answers(meter, 1)
        service.misbehaviour = None
        chunks += answers(meter, 1)
        meter.close()
    readings = parsed(DRIVER, meter.describe(), *(chunk.data for chunk in chunks))
    assert flags(readings) == ["missing", "ok"]
    assert power(readings) == pytest.approx([math.nan, 231.5], nan_ok=True)


def test_connection_that_the_service_ended_is_opened_again():
    with Redfish(lambda: 231.5) as service:
        meter = opened(DRIVER, rate_hz=5, **login(service))
        meter.start()
        answers(meter, 1)
        service.hang_up()
        (chunk,) = answers(meter, 1)
        meter.close()
        assert power(parsed(DRIVER, meter.describe(), chunk.data)) == [231.5]
        assert service.connections == 2


def test_another_chassis_is_refused():
    with Redfish(lambda: 231.5) as service:
        meter = opened(DRIVER, **login(service))
        service.serial = "OTHER"
        with pytest.raises(FsgreenError, match=r"not the same meter.*serial"):
            meter.start()


def test_chassis_has_to_be_named_where_there_are_several():
    with Redfish(lambda: 231.5, others=["Enclosure"]) as service:
        with pytest.raises(FsgreenError, match=r"2 chassis are there: .*Chassis/1, .*Enclosure"):
            opened(DRIVER, **login(service))
        meter = opened(DRIVER, chassis="1", **login(service))
        assert one_reading(service, meter).power_w == 231.5


def test_power_control_has_to_be_named_where_there_are_several():
    with Redfish(lambda: 231.5, trees=["power"], controls=["System", "CPU"]) as service:
        with pytest.raises(FsgreenError, match="2 power controls fit: there are System, CPU"):
            opened(DRIVER, **login(service))
        meter = opened(DRIVER, control="System", **login(service))
        assert one_reading(service, meter).power_w == 231.5


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate of this test: apt install openssl")
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    options = (
        "-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(
        ["openssl", "req", *options.split(), "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    return {"certificate": certificate, "key": key}


def test_service_is_asked_over_tls_with_its_certificate(certificate):
    with Redfish(lambda: 231.5, **certificate) as service:
        assert service.url.startswith("https://")
        meter = opened(DRIVER, ca_file=str(certificate["certificate"]), **login(service))
        assert one_reading(service, meter).power_w == 231.5


def test_certificate_that_nobody_vouches_for_is_refused_before_the_password_is_sent(certificate):
    with Redfish(lambda: 231.5, **certificate) as service:
        with pytest.raises(FsgreenError, match="self-signed certificate") as caught:
            opened(DRIVER, **login(service))
        assert "ca_file" in caught.value.next_step
        assert service.received == []


def test_energy_is_the_services_own_and_its_reset_is_flagged():
    readings = parsed(DRIVER, CHASSIS_INFO, answer(100, 12.5), answer(101, 12.6), answer(102, 0.1))
    assert [r.energy_wh for r in readings] == pytest.approx([12500, 12600, 100])
    assert flags(readings) == ["ok", "ok", "reset"]


def test_answer_that_repeats_all_values_is_stale():
    texts = (answer(100, 1.0), answer(100, 1.0, Name="x"), answer(100, 1.1), answer(101, 1.1))
    assert flags(parsed(DRIVER, CHASSIS_INFO, *texts)) == ["ok", "stale", "ok", "ok"]


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        (answer(None), "missing"),
        (answer("231"), "bad-number"),
        (answer(True), "bad-number"),
        (answer(float("nan")), "bad-number"),
        (answer(10**400), "bad-number"),
        (answer([231]), "bad-number"),
        (b'{"' + ENVIRONMENT.encode() + b'": "{}"}', "missing"),
        (b'{"' + ENVIRONMENT.encode() + b'": {"PowerWatts": {"Reading": 5}}}', "cut"),
        (answer(231)[:-4], "cut"),
        (b"{}", "cut"),
        (b"[" * 5000, "cut"),
    ],
)
def test_answer_without_a_sound_power_gives_no_number(text, flag):
    (reading,) = parsed(DRIVER, CHASSIS_INFO, text)
    assert reading.quality == flag
    assert math.isnan(reading.power_w)


@pytest.mark.parametrize(("power_w", "flag"), [(-1, "negative"), (20_000, "over-range")])
def test_power_that_cannot_be_is_kept_and_flagged(power_w, flag):
    (reading,) = parsed(DRIVER, CHASSIS_INFO, answer(power_w))
    assert (reading.power_w, reading.quality) == (power_w, flag)


def test_supply_that_gives_nothing_leaves_no_sum_of_the_others():
    paths = [f"{CHASSIS}/PowerSubsystem/PowerSupplies/{n}/Metrics" for n in "01"]
    references = [f"{path}#/InputPowerWatts/Reading" for path in paths]
    info = replace(CHASSIS_INFO, options={"power": references, "energy_kwh": []})
    both = {path: '{"InputPowerWatts": {"Reading": 50}}' for path in paths}
    one = both | {paths[1]: '{"InputPowerWatts": {"Reading": null}}'}
    readings = parsed(DRIVER, info, json.dumps(both).encode(), json.dumps(one).encode())
    assert power(readings) == pytest.approx([100.0, math.nan], nan_ok=True)
    assert flags(readings) == ["ok", "missing"]


def test_answer_that_is_cut_gives_no_power():
    none_passes_when_cut(DRIVER, CHASSIS_INFO, whole=answer(231.5))


def test_document_that_is_cut_gives_no_power():
    (document,) = json.loads(answer(231.5)).values()
    for end in range(len(document)):
        (reading,) = parsed(
            DRIVER, CHASSIS_INFO, json.dumps({ENVIRONMENT: document[:end]}).encode()
        )
        assert (reading.quality, math.isnan(reading.power_w)) == ("cut", True)


@fuzzed
@given(disturbed(answer(231.5), answer(240, 12.6)))
def test_no_answer_crashes_the_parser_or_passes_for_a_power(texts):
    none_is_wrong(DRIVER, CHASSIS_INFO, texts)
