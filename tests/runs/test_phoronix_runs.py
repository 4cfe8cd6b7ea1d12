"""Result files of the Phoronix Test Suite: single runs, scales, and XML that wants harm."""

import pytest
from damaged_files import damaged, fuzzed, read, told, wrong_numbers
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.runs import xmltree
from fsgreen.runs.phoronix import FORMAT

RESULT = """  <Result>
    <Identifier>pts/{test}-1.0.0</Identifier>
    <Title>{title}</Title>
    <AppVersion>1.0</AppVersion>
    <Arguments>x</Arguments>
    <Description>{description}</Description>
    <Scale>{scale}</Scale>
    <Proportion>HIB</Proportion>
    <DisplayFormat>{format}</DisplayFormat>
    <Data>
{entries}    </Data>
  </Result>
"""
ENTRY = """      <Entry>
        <Identifier>{system}</Identifier>
        <Value>{value}</Value>
        <RawString>{raw}</RawString>
        <JSON>{{"test-run-times": "5:5:5"}}</JSON>
      </Entry>
"""


def result(scale, *entries, title="FS-Mark", description="1000 Files", format="BAR_GRAPH"):
    """One test with (system, value, raw) entries."""
    text = "".join(ENTRY.format(system=s, value=v, raw=r) for s, v, r in entries)
    return RESULT.format(
        test="t", title=title, description=description, scale=scale, format=format, entries=text
    )


def file(*results):
    return (
        '<?xml version="1.0"?>\n<!--Phoronix Test Suite-->\n<PhoronixTestSuite>\n'
        "  <Generated><Title>mine</Title></Generated>\n"
        "  <System><Identifier>ext4</Identifier></System>\n"
        f"{''.join(results)}</PhoronixTestSuite>\n"
    ).encode()


IOPS = result("IOPS", ("ext4", "10100", "10000:10100:10200"), ("xfs", "12000", "12050:11950"))


def refused(data, *maps):
    with pytest.raises(FsgreenError) as caught:
        read(FORMAT, data, *maps)
    assert caught.value.next_step
    return str(caught.value)


def test_each_single_run_of_each_system_is_a_run():
    """The value that is shown is their mean and would hide how they scatter."""
    runs = read(FORMAT, file(IOPS), "Identifier=file_system")
    assert [(run.values["file_system"], run.values["throughput_ops_s"]) for run in runs] == [
        *(("ext4", 10_000), ("ext4", 10_100), ("ext4", 10_200)),
        *(("xfs", 12_050), ("xfs", 11_950)),
    ]
    assert {run.values["workload"] for run in runs} == {"FS-Mark 1000 Files"}


def test_scales_that_say_their_unit_are_read():
    data = file(
        result("Seconds", ("a", "12.5", "12:13"), title="SQLite"),
        result("Joules", ("a", "500", ""), title="Power"),
    )
    seconds, more_seconds, joules = read(FORMAT, data)
    assert seconds.values == {"option": "a", "workload": "SQLite 1000 Files", "duration_s": 12.0}
    assert more_seconds.values["duration_s"] == 13
    assert joules.values["energy_j"] == 500
    assert "unknown number of runs counts as one" in told(FORMAT, data)


def test_mb_is_refused_with_both_readings():
    message = refused(file(result("MB/s", ("a", "500", "500"))))
    assert "bandwidth_mb_s" in message
    assert "bandwidth_mib_s" in message


def test_mapped_scales_are_converted_and_unknown_ones_kept_aside():
    data = file(result("MB/s", ("a", "500", "500")), result("Files/s", ("a", "70.5", "70:71")))
    (one, *others) = read(FORMAT, data, "MB/s=bandwidth_mib_s")
    assert one.values["bandwidth_b_s"] == 500 * 2**20
    assert [other.aside for other in others] == [{"Files/s": "70"}, {"Files/s": "71"}]
    (_, *others) = read(FORMAT, data, "MB/s=bandwidth_mib_s", "Files/s=throughput_ops_s")
    assert [other.values["throughput_ops_s"] for other in others] == [70, 71]


def test_graphs_over_time_are_no_runs():
    data = file(IOPS, result("Watts", ("a", "5,6,7", ""), format="LINE_GRAPH"))
    assert len(read(FORMAT, data)) == 5
    assert "no single numbers" in told(FORMAT, data)


def test_an_entry_without_a_value_is_told():
    data = file(IOPS, result("Seconds", ("a", "", ""), title="Broken"))
    assert "No value: a, Broken" in told(FORMAT, data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (file(result("IOPS", ("a", "10100", "10000:1010:10200"))), "have the mean"),
        (file(result("IOPS", ("a", "10100", "10000::10200"))), "have the mean"),
        (file(result("IOPS", ("a", "1e2000", ""))), "no number"),
        (file(result("IOPS", ("a", "fast", ""))), "no number"),
        (file(result("IOPS", ("", "5", ""))), "no identifier"),
        (file(result("Things", ("a", "5", "5"))), "no test of this file has a scale"),
        (file(), "no test of this file has a scale"),
        (b"<PhoronixTestSuite>", "no XML"),
        (b"<Other/>", "no result of the Phoronix"),
        (b"", "empty"),
    ],
)
def test_what_cannot_be_trusted_is_refused(data, message):
    assert message in refused(data)


def test_the_systems_of_a_file_are_levels():
    assert "are levels" in refused(file(IOPS), "Identifier=energy_j")


LAUGHS = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>"""


@pytest.mark.parametrize(
    "prologue",
    [LAUGHS, '<!DOCTYPE x SYSTEM "file:///etc/passwd">', '<!DOCTYPE x [<!ENTITY % p SYSTEM "x">]>'],
)
def test_entities_are_neither_expanded_nor_fetched(prologue):
    text = prologue + file(IOPS).decode().split("?>")[1].replace("FS-Mark", "&b;")
    assert "declares a document type" in refused(text.encode())
    assert "undefined entity" in refused(file(IOPS).replace(b"FS-Mark", b"&b;"))


def test_other_encodings_do_not_hide_a_document_type():
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        refused((LAUGHS + file(IOPS).decode().split("?>")[1]).encode(encoding))


def test_depth_and_number_of_elements_are_limited(monkeypatch):
    monkeypatch.setattr(xmltree, "MOST_ELEMENTS", 1000)
    with pytest.raises(ValueError, match="deeper"):
        xmltree.parse("<a>" * 10_000)
    with pytest.raises(ValueError, match="more elements"):
        xmltree.parse("<a>" + "<b/>" * 1001 + "</a>")


@given(st.binary(max_size=300))
@fuzzed
def test_arbitrary_bytes_are_refused(data):
    refused(data)


@given(st.text(alphabet="<>/EntryDataResul&;!-[]", max_size=200))
@fuzzed
def test_arbitrary_elements_never_crash(text):
    try:
        read(FORMAT, f"<PhoronixTestSuite>{text}</PhoronixTestSuite>".encode())
    except FsgreenError as error:
        assert error.next_step


SOUND = file(IOPS, result("Seconds", ("ext4", "12.5", "12.25:12.75"), ("xfs", "9.5", "9.5")))
RUNS = read(FORMAT, SOUND)


@given(damaged(SOUND))
@fuzzed
def test_damage_never_makes_another_number(data):
    assert wrong_numbers(FORMAT, data, RUNS) == []
