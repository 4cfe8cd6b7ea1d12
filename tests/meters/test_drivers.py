import pytest
from test_wattsup import OPENING
from wattsup_texts import dialogue

from fsgreen.errors import FsgreenError
from fsgreen.meters import open_meters
from tests.patience import leaves_nothing

EMULATED = {"name": "system", "driver": "wattsup", "emulate": True}
EMULATED_DISK = EMULATED | {"name": "disk", "profile": "fast10-disk"}


def opened(config):
    return open_meters(config, lambda: None)


def test_without_configuration_the_two_meters_of_fast10_are_emulated():
    meters = opened(None)
    infos = {name: meter.describe() for name, meter in meters.items()}
    for meter in meters.values():
        meter.close()
    assert {name: info.covers for name, info in infos.items()} == {
        "system": ("server",),
        "disk": ("disk",),
    }
    assert {info.boundary for info in infos.values()} == {"modelled"}
    assert infos["system"].serial != infos["disk"].serial
    assert {info.driver for info in infos.values()} == {"wattsup"}


def test_configured_port_is_opened_with_its_boundary():
    with dialogue(*OPENING) as port:
        entry = {"name": "system", "driver": "wattsup", "port": port, "covers": ["server"]}
        (meter,) = opened([entry | {"boundary": "wall"}]).values()
        info = meter.describe()
        meter.close()
    assert (info.boundary, info.covers, info.serial) == ("wall", ("server",), "20090101")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"driver": "wattsup", "port": "/dev/null"}, "the key name is missing"),
        ({"name": "system", "port": "/dev/null"}, "the key driver is missing"),
        ({"name": "system", "driver": "wattsup"}, "the key port is missing"),
        ({"name": "system", "driver": "watsup", "port": "x"}, "unknown meter driver"),
        (
            {"name": "system", "driver": "wattsup", "port": "x", "bauds": 1},
            "unknown key bauds, did you mean baud. Known: baud, boundary",
        ),
        (EMULATED | {"profile": "fast10"}, "unknown power profile"),
        (EMULATED | {"port": "x"}, "port may not be given to an emulated meter"),
        (EMULATED | {"boundary": "wall"}, "boundary: takes modelled, not 'wall'"),
        (EMULATED | {"driver": "rapl"}, "no emulator of rapl"),
        ({"name": "system", "driver": "hoboware"}, "reads files"),
        ({"name": "rack/1", "driver": "wattsup", "port": "x"}, "has no slash"),
        ({"name": "disk", "driver": "wattsup", "port": "x"}, "two meters are named disk"),
        (EMULATED_DISK | {"name": "other"}, "both cover disk"),
        (
            {"name": "system", "driver": "wattsup", "port": "x", "boundary": "roof"},
            "boundary: takes wall, dc-rail",
        ),
    ],
)
def test_wrong_entry_is_named_and_the_meters_before_it_are_closed(entry, message):
    with leaves_nothing(), pytest.raises(FsgreenError, match=message):
        opened([EMULATED_DISK, entry])
