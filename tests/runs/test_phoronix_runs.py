"""Result files of the Phoronix Test Suite: single runs, scales, and XML that wants harm."""

import pytest
from damaged_files import damaged, fuzzed, read, told, wrong_numbers
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.runs import import_runs, phoronix
from fsgreen.runs.meanings import meanings_of, path_pattern
from fsgreen.runs.phoronix import FORMAT

RESULT = """  <Result>
    <Identifier>pts/{test}-1.0.0</Identifier>
    <Title>{title}</Title>
    <AppVersion>{version}</AppVersion>
    <Arguments>{arguments}</Arguments>
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


def result(scale, *entries, **parts):
    """One test with (system, value, raw) entries."""
    text = "".join(ENTRY.format(system=s, value=v, raw=r) for s, v, r in entries)
    known = {"test": "t", "title": "FS-Mark", "description": "1000 Files", "version": "1.0"}
    known |= {"arguments": "x", "format": "BAR_GRAPH"}
    return RESULT.format(**(known | parts), scale=scale, entries=text)


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
    files = result("Files", ("a", "70.5", "70:71"), title="Other")
    data = file(result("MB/s", ("a", "500", "500")), files)
    (one, *others) = read(FORMAT, data, "MB/s=bandwidth_mib_s")
    assert one.values["bandwidth_b_s"] == 500 * 2**20
    assert [other.aside for other in others] == [{"Files": "70"}, {"Files": "71"}]
    (_, *others) = read(FORMAT, data, "MB/s=bandwidth_mib_s", "Files=work_ops")
    assert [other.values["work_ops"] for other in others] == [70, 71]


def fio_twins(iops, megabytes, **parts):
    """What pts/fio gives: two results of the same runs."""
    names = {"title": "Flexible IO Tester", "description": "Type: Random Read"} | parts
    return result("IOPS", *iops, **names) + result("MB/s", *megabytes, **names)


def test_results_of_the_same_runs_are_one_row_each_run():
    """Three runs of fio in IOPS and in MB/s are three, and too few to conclude (rule 26)."""
    data = file(
        fio_twins(
            [("ext4", "10100", "10000:10100:10200"), ("xfs", "12000", "12050:11950")],
            [("ext4", "40.4", "40:40.4:40.8"), ("xfs", "48", "48.2:47.8")],
        )
    )
    runs = read(FORMAT, data, "MB/s=bandwidth_mb_s")
    assert [
        (run.values["option"], run.values["throughput_ops_s"], run.values["bandwidth_b_s"])
        for run in runs
    ] == [
        *(("ext4", 10_000, 40e6), ("ext4", 10_100, 40.4e6), ("ext4", 10_200, 40.8e6)),
        *(("xfs", 12_050, 48.2e6), ("xfs", 11_950, 47.8e6)),
    ]
    assert len({run.name for run in runs}) == 5


def test_the_runs_of_a_test_are_counted_once(tmp_path):
    """Before, three runs in two scales were six, and enough."""
    path = tmp_path / "composite.xml"
    twins = fio_twins([("ext4", "5", "4:5:6")], [("ext4", "50", "40:50:60")])
    path.write_bytes(file(twins))
    imported = import_runs([path], meanings_of(["MB/s=bandwidth_mb_s"]))
    assert len(imported.runs) == 3


def test_a_result_whose_runs_are_not_those_of_its_twin_is_left_out():
    """Which run in MB/s is which in IOPS is not known where one is missing."""
    data = file(fio_twins([("a", "5", "4:5:6")], [("a", "45", "40:50")]))
    runs = read(FORMAT, data, "MB/s=bandwidth_mb_s")
    assert [run.values.get("throughput_ops_s") for run in runs] == [4, 5, 6]
    assert not any("bandwidth_b_s" in run.values for run in runs)
    assert "2 runs in MB/s of a, Flexible IO Tester" in told(FORMAT, data, "MB/s=bandwidth_mb_s")


def test_two_results_of_one_test_cannot_be_one_quantity():
    data = file(result("Seconds", ("a", "5", "5")), result("Milliseconds", ("a", "7", "7")))
    message = refused(data)
    assert "both duration_s" in message
    assert "--map 'Milliseconds=aside'" in message
    assert len(read(FORMAT, data, "Milliseconds=aside")) == 2


def workloads(folder, *texts):
    """The workloads of files, and what was decided on the first of them."""
    paths = []
    for nth, text in enumerate(texts):
        paths.append(folder / f"{nth}.xml")
        paths[-1].write_bytes(file(text))
    found = import_runs(paths, meanings_of([]))
    return list(found.runs["workload"]), " ".join(found.sources[0]["decisions"])


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"version": "2.0"}, ("AppVersion 1.0", "AppVersion 2.0")),
        ({"arguments": "y"}, ("Arguments x", "Arguments y")),
        ({"arguments": ""}, ("Arguments x", "Arguments none")),
        (
            {"arguments": "y", "version": "2.0"},
            ("AppVersion 1.0, Arguments x", "AppVersion 2.0, Arguments y"),
        ),
        ({"test": "u"}, ("Identifier pts/t-1.0", "Identifier pts/u-1.0")),
    ],
)
def test_other_versions_and_arguments_are_other_workloads(tmp_path, parts, names):
    """Also in another file: two versions of a program are no runs of one cell."""
    one = result("IOPS", ("a", "5", "5"))
    other = result("IOPS", ("a", "6", "6"), **parts)
    expected = [f"FS-Mark 1000 Files ({name})" for name in names]
    for texts in ((one + other,), (one, other)):
        found, decisions = workloads(tmp_path, *texts)
        assert found == expected
        assert "FS-Mark 1000 Files is several workloads, whose" in decisions


def test_workloads_of_one_version_keep_their_name(tmp_path):
    """What the monitor adds to them, which is kept aside, is no other test."""
    per_watt = result("IOPS Per Watt", ("a", "2", ""), version="")
    found, decisions = workloads(tmp_path, result("IOPS", ("a", "5", "5")) + per_watt)
    assert found == ["FS-Mark 1000 Files"]
    assert "several workloads" not in decisions


def test_a_workload_of_the_path_is_not_told_apart(tmp_path):
    """What the user calls it replaces the names of the file."""
    path = tmp_path / "mine.xml"
    path.write_bytes(
        file(result("IOPS", ("a", "5", "5")), result("IOPS", ("a", "6", "6"), version="2.0"))
    )
    found = import_runs([path], meanings_of([]), pattern=path_pattern("{workload}.xml"))
    assert list(found.runs["workload"]) == ["mine", "mine"]
    assert "several workloads" not in " ".join(found.sources[0]["decisions"])


@pytest.mark.parametrize(
    ("entries", "name"),
    [
        ([("a", "10200", "9000:10200:9900"), ("b", "70", "70:50")], "maximum"),
        ([("a", "9000", "9000:10200:9900"), ("b", "50", "70:50"), ("c", "5", "5")], "minimum"),
    ],
)
def test_a_test_may_show_the_greatest_or_the_least_of_its_runs(entries, name):
    """ResultQuantifier MAX or MIN; the single runs are read as ever."""
    data = file(result("IOPS", *entries))
    assert [run.values["throughput_ops_s"] for run in read(FORMAT, data)] == [
        float(text) for _, _, raw in entries for text in raw.split(":")
    ]
    assert f"is the {name} of its runs, not their mean" in told(FORMAT, data)
    assert "not their mean" not in told(FORMAT, file(IOPS))


def test_what_is_shown_is_one_thing_for_all_systems_of_a_test():
    """Else a run that lost a digit would pass where the greatest is about the mean."""
    lost = result("IOPS", ("a", "10100", "10000:10100:1020"), ("b", "60", "70:50"))
    assert "have the mean" in refused(file(lost))
    both = result("IOPS", ("a", "70", "70:50"), ("b", "50", "70:50"))
    assert "have the mean" in refused(file(both))
    assert "have the mean" in refused(file(result("IOPS", ("a", "70", "70::50"))))


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


def test_deep_and_many_elements_do_no_harm(monkeypatch):
    deep = b"<PhoronixTestSuite>" + 100_000 * b"<a>"
    assert "no XML" in refused(deep)
    assert "no test of this file" in refused(deep + 100_000 * b"</a>" + b"</PhoronixTestSuite>")
    monkeypatch.setattr(phoronix, "MOST_TAGS", 1000)
    assert "more elements" in refused(b"<a>" + 1001 * b"<b/>" + b"</a>")


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


SOUND = file(
    fio_twins([("a", "5.5", "5:5.4:6.1")], [("a", "51", "50:54:49")]),
    IOPS,
    result("Seconds", ("ext4", "12.5", "12.25:12.75"), ("xfs", "9.5", "9.5"), title="SQLite"),
)
MAPS = ("MB/s=bandwidth_mb_s",)
RUNS = read(FORMAT, SOUND, *MAPS)


@given(damaged(SOUND))
@fuzzed
def test_damage_never_makes_another_number(data):
    assert wrong_numbers(FORMAT, data, RUNS, *MAPS) == []
