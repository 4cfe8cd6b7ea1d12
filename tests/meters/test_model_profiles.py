import math
import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.meters.modelled import Components, Linear, load_profile
from fsgreen.meters.modelled.activity import RATES

RICH = """
[node]
covers = ["server", "disk"]
idle_w = 61.5
source = "fitted 2026-05-01 to a Watts Up"
clock_exponent = 2.0
clock_base_hz = 3e9
disk_rate_b_s = 1e8
[node.terms]
cpu_user_w = 10
cpu_system_w = { value = 8.0, source = "a data sheet, table 3" }
disk_seek_w = 6.0
disk_write_w = 4.0
disk_standby_saving_w = 5.0
[node.fit]
residual_w = 0.4
"""
PLAIN = """
[node]
driven_by = "cpu"
covers = ["server"]
idle_w = 60
peak_w = 90
source = "a data sheet"
"""
FUZZ = max(1, int(os.environ.get("FSGREEN_FUZZ_S", "1")))
AT_REST = dict.fromkeys([*RATES, "disk_requests_hz"], 0.0) | {"cpu_clock_hz": float("nan")}


def load(tmp_path, text, name="node"):
    file = tmp_path / "profiles.toml"
    file.write_text(text)
    return load_profile(name, file)


def test_shipped_profiles_are_those_of_the_paper():
    system, disk = load_profile("fast10-system"), load_profile("fast10-disk")
    assert isinstance(system, Linear)
    assert isinstance(disk, Linear)
    assert (system.idle_w, system.peak_w, system.covers) == (214, 279, ("server",))
    assert (disk.idle_w, disk.peak_w, disk.covers) == (7, 22, ("disk",))
    assert system.describe().startswith("214 to 279 W by cpu (Sehgal, Tarasov, Zadok, FAST 2010")


def test_parameters_of_a_file_are_used_with_their_clock(tmp_path):
    node = load(tmp_path, RICH)
    assert isinstance(node, Components)
    assert node.power_w(AT_REST) == 61.5
    busy = AT_REST | {"cpu_user_x": 1.5, "cpu_system_x": 0.5, "cpu_clock_hz": 1.5e9}
    assert node.power_w(busy) == pytest.approx(61.5 + (15 + 4) / 4)
    assert node.power_w(busy | {"cpu_clock_hz": float("nan")}) == pytest.approx(61.5 + 15 + 4)
    assert node.power_w(AT_REST | {"disk_standby_x": 0.5}) == pytest.approx(59)


def test_seeks_alone_still_leave_transfers_out_where_the_rate_is_known(tmp_path):
    text = RICH.replace("disk_write_w = 4.0\n", "")
    done = {"disk_busy_x": 0.8, "disk_read_b_s": 0.0, "disk_write_b_s": 5e7}
    assert load(tmp_path, text).power_w(AT_REST | done) == pytest.approx(61.5 + 0.3 * 6)
    unrated = text.replace("disk_rate_b_s = 1e8\n", "")
    assert load(tmp_path, unrated).power_w(AT_REST | done) == pytest.approx(61.5 + 0.8 * 6)


@pytest.mark.parametrize(
    ("read_b_s", "write_b_s", "above_idle_w"),
    [
        (0, 0, 0.8 * 6),
        (0, 5e7, 0.3 * 6 + 0.5 * 4),
        (2e7, 2e7, 0.4 * 6 + 0.2 * 4),
        (0, 9e9, 0.8 * 4),
    ],
)
def test_disk_s_time_is_split_into_seek_and_transfer(tmp_path, read_b_s, write_b_s, above_idle_w):
    done = {"disk_busy_x": 0.8, "disk_read_b_s": read_b_s, "disk_write_b_s": write_b_s}
    power_w = load(tmp_path, RICH).power_w(AT_REST | done)
    assert power_w == pytest.approx(61.5 + above_idle_w)


def test_every_parameter_is_described_with_its_source(tmp_path):
    text = load(tmp_path, RICH).describe()
    for part in ("61.5 W idle", "10 W a core in user mode", "8 W a core in system mode (a data"):
        assert part in text
    assert "(clock / 3 GHz)^2" in text
    assert text.endswith("(fitted 2026-05-01 to a Watts Up)")


@pytest.mark.parametrize("text", [RICH, PLAIN])
def test_profile_without_a_source_is_refused(tmp_path, text):
    lines = [line for line in text.splitlines() if not line.startswith("source")]
    with pytest.raises(FsgreenError, match="the key source is missing"):
        load(tmp_path, "\n".join(lines))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("idle_w = 61.5", "", "the key idle_w is missing"),
        ("idle_w = 61.5", "idle_w = -1", "line 4: idle_w: takes a number from 0 on"),
        ("idle_w = 61.5", "idle_w = nan", "idle_w: takes a finite number"),
        ("idle_w = 61.5", "idle_w = true", "idle_w: takes a number"),
        (
            "cpu_user_w = 10",
            "cpu_user_w = -10",
            "line 10: terms.cpu_user_w",
        ),
        ("cpu_user_w = 10", "cpu_usr_w = 10", "did you mean cpu_user_w"),
        (
            'source = "a data sheet, table 3"',
            'source = " "',
            "cpu_system_w.source: there is no source",
        ),
        ("value = 8.0", "valu = 8.0", "unknown key valu, did you mean value"),
        (
            "clock_exponent = 2.0",
            "clock_exponent = 5.0",
            "clock_exponent: takes a number up to 3",
        ),
        ("clock_base_hz = 3e9", "", "clock_exponent needs its clock_base_hz"),
        ("clock_base_hz = 3e9", "clock_base_hz = 0", "clock_base_hz: takes a number above 0"),
        ("disk_rate_b_s = 1e8", "", "need disk_rate_b_s"),
        ("disk_rate_b_s = 1e8", "disk_rate_b_s = 0", "disk_rate_b_s: takes a number above 0"),
        ('covers = ["server", "disk"]', 'covers = "server"', "covers: takes a list"),
        ("[node.fit]", "[node.fits]", "unknown key fits, did you mean fit"),
        ("[node.terms]", "terms = 3\n[node.term]", "unknown key term, did you mean terms"),
        ("[node]", "[node", "not TOML"),
    ],
)
def test_wrong_profile_is_named(tmp_path, old, new, message):
    assert old in RICH
    with pytest.raises(FsgreenError, match=message):
        load(tmp_path, RICH.replace(old, new))


PIECES = [*RICH.splitlines(keepends=True), *PLAIN.splitlines(keepends=True)]


@settings(max_examples=100 * FUZZ, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=12).map("".join))
@example("[node]\nidle_w = " + "9" * 400 + '\ncovers = []\nsource = "x"\n')
def test_any_text_is_a_sound_profile_or_refused(tmp_path_factory, text):
    try:
        profile = load(tmp_path_factory.getbasetemp(), text)
    except FsgreenError:
        return
    assert profile.source.strip()
    assert math.isfinite(profile.power_w(AT_REST))


def test_linear_profile_of_something_else_is_refused(tmp_path):
    with pytest.raises(FsgreenError, match="driven_by: takes cpu or disk"):
        load(tmp_path, PLAIN.replace('"cpu"', '"gpu"'))
    with pytest.raises(FsgreenError, match="takes keys with values"):
        load(tmp_path, "node = 3")


def test_missing_profiles_name_those_there_are(tmp_path):
    with pytest.raises(FsgreenError, match="fast10-disk"):
        load_profile("fast10-dsk")
    with pytest.raises(FsgreenError, match="did you mean node"):
        load(tmp_path, RICH, name="nod")
    with pytest.raises(FsgreenError, match="cannot be read"):
        load_profile("node", tmp_path / "none.toml")
