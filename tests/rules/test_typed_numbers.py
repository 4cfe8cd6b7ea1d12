"""Rule 43: a number in the text of a report is typed, in quotes or not; a name is none."""

import dataclasses

import pytest
import sound_campaign

from fsgreen.rules.reporting import generated_numbers, typed_numbers


@pytest.mark.parametrize(
    "text",
    [
        'caption: "Bandwidth of 9.4 MiB in a second."',
        'caption: "9.4x"',
        '("Verdict", "2 of 3", "Meaning")',
        'report.with(title: "FAST 2010, run again")',
        'said "in 20 years" by many',
    ],
)
def test_a_number_in_quotes_that_is_shown_is_typed(text):
    """A caption is text as any other."""
    assert typed_numbers(f"= Figures\n\n  {text}\n") == [text]


@pytest.mark.parametrize(
    "text",
    [
        '#whole-csv("tables/table-1.csv")',
        'file: "recommended_" + workload + "-2.svg"',
        'fill: rgb("#009E73")',
        'row.at("the 95 % interval")',
        'caption: "ext4 in fig3a"',
        'paper: "a4"',
        "columns: (auto, 5fr, 2fr)",
    ],
)
def test_names_hold_digits_that_are_no_numbers(text):
    assert typed_numbers(text) == []


def test_a_caption_with_a_typed_number_fires():
    """The judge would otherwise pass what its readers cannot trace to data."""
    report = sound_campaign.make_report()
    text = '#plate((file: "fig1.svg", caption: "Up to 9.4 times."))'
    found = generated_numbers(dataclasses.replace(report, texts={"fast10.typ": text}))
    assert found.state == "fired"
    assert "1 line with typed numbers, fast10.typ: #plate" in found.found
