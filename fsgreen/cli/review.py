"""Sub-commands of who reviews: a claim with its evidence, a study's ledger, two campaigns."""

from __future__ import annotations

import argparse

from fsgreen.cli import command


def add(commands: command.Commands) -> None:
    """Add the sub-commands of this module."""
    claim = command.add(
        commands,
        "claim",
        _claim,
        "show one claim: as published, ours from every campaign, its cells, and how to check it",
        "fsgreen claim fast10-62, or from the traces anew: fsgreen claim file_journal --run",
    )
    claim.add_argument("claim", help="its slug, or its number in data/reference/claims.yaml")
    claim.add_argument(
        "--run",
        dest="again",
        action="store_true",
        help="first analyse the traces of one campaign again, as far as the claim needs them",
    )
    claim.add_argument(
        "--campaign", help="show the cells of this one (default: the one with the best evidence)"
    )

    ledger = command.add(
        commands,
        "ledger",
        _ledger,
        "compare and pool what all campaigns of a study say about its claims",
        "fsgreen ledger fast10, or one claim in full: fsgreen ledger fast10 web_dtlg",
    )
    ledger.add_argument("study", help="a study whose campaigns have been judged here")
    ledger.add_argument("claim", nargs="?", help="show the parts of this claim, by campaign")

    compare = command.add(
        commands,
        "compare",
        _compare,
        "compare two campaigns cell by cell: ratios with intervals, and what differs",
        "fsgreen compare mine-quick fast10-options, or in other metrics: "
        "fsgreen compare fast10 fast10-options --metric bandwidth",
    )
    compare.add_argument("campaign", help="one of `fsgreen list campaigns`")
    compare.add_argument("other", help="the campaign to compare it with")
    compare.add_argument(
        "--metric",
        action="append",
        default=[],
        help="compare this metric (default: throughput and efficiency)",
    )


def _claim(options: argparse.Namespace) -> None:
    from fsgreen import evidence, pipeline
    from fsgreen.errors import FsgreenError

    claim = evidence.find(options.claim)
    if options.again:
        campaign = options.campaign or evidence.campaign_of(claim)
        if campaign is None:
            raise FsgreenError(
                f"no campaign of {claim.study} has been judged here", next_step="./run reproduce"
            )
        command.show(pipeline.reanalyse(campaign, "claims"))
        print()
    command.show_indented(evidence.lines(claim, options.campaign))


def _ledger(options: argparse.Namespace) -> None:
    from fsgreen import ledger

    command.show_indented(ledger.lines(options.study, options.claim))


def _compare(options: argparse.Namespace) -> None:
    from fsgreen import beside

    for line in beside.lines(options.campaign, options.other, options.metric):
        if line.startswith("  "):  # a row of a table keeps its columns
            print(line)
        else:
            command.show(line)
