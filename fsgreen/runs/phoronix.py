"""Result files of the Phoronix Test Suite, `composite.xml`.

`PhoronixTestSuite/Result` is a test with its arguments: `Identifier`, `Title`, `Description`,
`Scale` (its unit, as the test's author wrote it), `Data/Entry` for each system or configuration:
`Identifier` as the user named it, `Value`, the mean that is shown, and `RawString`, the values of
the single runs with `:` between. `DisplayFormat` is BAR_GRAPH where a value is one number. A test
of several quantities (fio: IOPS and MB/s) has a `Result` for each, alike but for its `Scale`.
A test may show the greatest or the least of its runs (`ResultQuantifier`, which the file lacks).
Source: github.com/phoronix-test-suite/phoronix-test-suite,
pts-core/openbenchmarking.org/schemas/result-file.xsd and test-profile.xsd,
pts-core/objects/pts_result_file.php, pts-core/objects/client/pts_test_execution.php.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from fsgreen.meters.files.text import Report, decode
from fsgreen.runs.meanings import ASIDE, LEVELS, UNITS, Meanings, number
from fsgreen.runs.rows import Format, Run

SCALES = {
    "Seconds": "duration_s",
    "Milliseconds": "duration_ms",
    "IOPS": "throughput_ops_s",
    "Joules": "energy_j",
    "Watts": "power_w",
}
"""Scales that say in full which quantity they are."""

SYSTEM = "Identifier"
"""The name under which `--map` says what the systems of a file are."""

MOST_TAGS = 1_000_000
"""More than any result file has."""

AGREEMENT = 0.01
"""How far the mean that is shown may be from that of the runs: it is rounded."""

QUANTIFIERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "maximum": max,
    "minimum": min,
}
"""What a test may show of its runs."""


@dataclass(frozen=True)
class Series:
    """The values of the single runs of a test on a system, as texts; `kind` is what they mean.

    `workload` is the test's title and description, `variant` what else tells it from others.
    """

    name: str
    system: str
    workload: str
    variant: Mapping[str, str]
    scale: str
    kind: str
    values: Sequence[str]


def read(data: bytes, meanings: Meanings, report: Report) -> list[Run]:
    """Read the single runs of each test on each system; tests in other scales are kept aside."""
    root = _document(decode(data, report), report)
    if root.tag != "PhoronixTestSuite":
        report.refuse("this is no result of the Phoronix Test Suite", "give its composite.xml")
    system = meanings.of(SYSTEM, own={SYSTEM: "option"})
    if system not in LEVELS:
        report.refuse(f"the systems of a file are levels, not {system}", "--map Identifier=option")
    tests: dict[tuple[str, ...], list[Series]] = {}
    for nth, result in enumerate(root.findall("Result"), 1):
        for series in _of_test(result, f"test{nth}", meanings, report):
            test = (series.system, series.workload, *series.variant.values())
            key = test if series.kind in UNITS else (series.name,)
            tests.setdefault(key, []).append(series)
    runs: list[Run] = []
    for first, *others in tests.values():
        if first.kind in UNITS:
            runs += _joined([first, *others], system, report)
        else:
            runs += _beside(first, system)
    if not any(run.values.keys() & {target for target, _ in UNITS.values()} for run in runs):
        report.refuse("no test of this file has a scale that is known", "--map 'SCALE=MEANING'")
    return runs


def _document(text: str, report: Report) -> ElementTree.Element:
    """Return the root element of XML; a document type, where entities live, is refused."""
    faults = []
    if "<!DOCTYPE" in text:
        faults.append("it declares a document type, which no result file does")
    if text.count("<") > MOST_TAGS:
        faults.append("it has more elements than any result file")
    try:
        if not faults:
            return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        faults.append(f"it is no XML: {error}")
    report.refuse(f"this cannot be read: {faults[0]}", "give the composite.xml of a result")


def _text(element: ElementTree.Element, name: str) -> str:
    """Return the text of the first inner element of a name; empty if there is none."""
    inner = element.find(name)
    return "" if inner is None else "".join(inner.itertext()).strip()


def _of_test(
    result: ElementTree.Element, name: str, meanings: Meanings, report: Report
) -> list[Series]:
    scale, title = _text(result, "Scale"), _text(result, "Title") or _text(result, "Identifier")
    workload = " ".join(part for part in (title, _text(result, "Description")) if part)
    if not workload:
        report.refuse(f"{name} has neither a title nor an identifier", "give the file as it was")
    if _text(result, "DisplayFormat") not in ("BAR_GRAPH", ""):
        report.tell(f"Left out, as its values are no single numbers: {workload}.")
        return []
    kind = meanings.of(scale, own=SCALES)
    entries = result.findall("Data/Entry")
    if not all(_text(entry, "Identifier") for entry in entries):
        report.refuse(f"an entry of {workload} has no identifier", "give the file as it was")
    # As in Phoronix's own comparisons, the last part of a test's version changes no workload.
    variant = {
        "Identifier": re.sub(r"\.[^.]*$", "", _text(result, "Identifier")),
        "AppVersion": _text(result, "AppVersion"),
        "Arguments": _text(result, "Arguments"),
    }
    return [
        Series(
            f"{name}-{place}", _text(entry, "Identifier"), workload, variant, scale, kind, values
        )
        for place, (entry, values) in enumerate(_single_runs(entries, workload, report), 1)
    ]


def _beside(series: Series, system: str) -> list[Run]:
    """Return runs without any quantity, whose values are kept aside."""
    levels = {system: series.system, "workload": series.workload}
    scale = series.scale or "no scale"
    return [
        Run(f"{series.name}-{nth}", levels, {scale: text} if series.kind == ASIDE else {})
        for nth, text in enumerate(series.values, 1)
    ]


def _joined(of_test: Sequence[Series], system: str, report: Report) -> list[Run]:
    """Return the runs of one test on one system, each with all the quantities that it measured."""
    first = max(of_test, key=lambda series: len(series.values))
    where = f"{first.system}, {first.workload}"
    rows: list[dict[str, object]] = [
        {system: first.system, "workload": first.workload} for _ in first.values
    ]
    for series in of_test:
        column, factor = UNITS[series.kind]
        if len(series.values) != len(rows):
            report.tell(
                f"Left out, as it is not known which of {len(rows)} runs in {first.scale} they "
                f"are: {len(series.values)} runs in {series.scale} of {where}."
            )
            continue
        if column in rows[0]:
            report.refuse(
                f"two results of one test are both {column}: {where}",
                f"keep one of them aside: --map '{series.scale}={ASIDE}'",
            )
        for values, text in zip(rows, series.values, strict=True):
            values[column] = factor * number(text, f"a run of {where}", report.where)
    return [
        Run(f"{first.name}-{nth}", values, variant=first.variant)
        for nth, values in enumerate(rows, 1)
    ]


def _single_runs(
    entries: Sequence[ElementTree.Element], workload: str, report: Report
) -> list[tuple[ElementTree.Element, list[str]]]:
    """Return the entries of a result that have a value, each with the values of its single runs.

    What is shown must be the mean of the runs, or for all entries their maximum, or minimum.
    """
    with_values = []
    fitting = list(QUANTIFIERS)
    for entry in entries:
        shown, raw = _text(entry, "Value"), _text(entry, "RawString")
        where = f"{_text(entry, 'Identifier')}, {workload}"
        if not shown:
            report.tell(f"No value: {where}.")
            continue
        with_values.append((entry, raw.split(":") if raw else [shown]))
        if not raw:
            report.tell(f"A mean of an unknown number of runs counts as one run: {where}.")
            continue
        values = [number(text, f"a run of {where}", report.where) for text in raw.split(":")]
        shows = _quantifiers(values, shown, number(shown, where, report.where))
        fitting = [name for name in fitting if name in shows]
        if not fitting:
            report.refuse(
                f"the runs of {where} have the mean {math.fsum(values) / len(values):g}, and "
                f"{shown} is shown",
                "give the file as it was written",
            )
    if "mean" not in fitting:
        report.tell(
            f"What is shown of {workload} is the {fitting[0]} of its runs, not their mean: a digit "
            "that another run lost cannot be told."
        )
    return with_values


def _quantifiers(values: Sequence[float], shown: str, value: float) -> list[str]:
    """Return what `shown`, whose value is given, can be of the values of runs."""
    half_digit = 0.51 * 10.0 ** -len(re.sub(r".*\.|^[^.]*$", "", shown))
    if any(map(math.isnan, values)):
        return []
    return [
        name
        for name, of in QUANTIFIERS.items()
        if abs(of(values) - value)
        <= max(AGREEMENT * abs(value) if name == "mean" else 0.0, half_digit)
    ]


FORMAT = Format(
    name="Phoronix Test Suite (composite.xml)",
    recognises=lambda head: b"<PhoronixTestSuite" in head,
    read=read,
)
