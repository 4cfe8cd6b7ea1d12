"""Sub-command `rules`: the rules for honest numbers, and what became of them in a campaign."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from fsgreen.cli import command

if TYPE_CHECKING:
    import pandas as pd

    from fsgreen.rules import Rule

INDENT = 5


def add(commands: command.Commands) -> None:
    """Add the sub-command."""
    rules = command.add(
        commands,
        "rules",
        _rules,
        "list the rules for honest numbers and where each fired, or show one in full",
        "fsgreen rules 27 --campaign fast10",
    )
    rules.add_argument("number", nargs="?", type=int, help="show this one in full")
    rules.add_argument("--campaign", help="the campaign to judge (default: the one begun last)")


def _rules(options: argparse.Namespace) -> None:
    from fsgreen import rules

    chosen = None if options.number is None else rules.rule(options.number)
    campaign = options.campaign or rules.last_campaign()
    if campaign is not None and (nothing := _nothing_to_judge(campaign)):
        command.show(nothing)
        return
    answers = None if campaign is None else rules.read(campaign, together=True).set_index("rule")
    if chosen is not None:
        _show(chosen, campaign, answers)
        return
    for rule in rules.rules().values():
        _list(rule, answers)
    print()
    if campaign is None or answers is None:
        print("no campaign has been analysed here: ./run reproduce judges the shipped ones")
    else:
        counts = ", ".join(f"{count} {state}" for state, count in rules.counts(answers).items())
        print(f"in {campaign}: {counts}")
    for mode, meaning in rules.MODES.items():
        print(f"  {mode} {meaning}")


def _nothing_to_judge(campaign: str) -> str:
    """Return that a campaign has no trial, and how it gets some; "" where it has."""
    from fsgreen import paths
    from fsgreen.design.owncopy import measured_as
    from fsgreen.reduce import is_imported, read_plan

    raw = paths.raw(campaign)
    begun = (raw / paths.PLAN).is_file() and not is_imported(campaign)
    if not begun or any((raw / "trials").glob("[!.]*")):
        return ""
    plan = read_plan(campaign)
    return (
        f"{campaign} has no trial yet, so that there is nothing to judge: fsgreen measure "
        f"{measured_as(plan)} --profile {plan.profile.name} --name {campaign}"
    )


def _list(rule: Rule, answers: pd.DataFrame | None) -> None:
    state = "" if answers is None else f"{answers.loc[rule.number, 'state']:10}"
    command.show(f"{rule.number:2} {rule.mode} {state}{rule.question}", hang=INDENT)
    where = f"source {', '.join(rule.sources)}; in {', '.join(rule.where)}"
    command.show(" " * INDENT + where, hang=INDENT)
    if answers is not None:
        command.show(f"{'':{INDENT}}-> {answers.loc[rule.number, 'found']}", hang=INDENT)


def _show(rule: Rule, campaign: str | None, answers: pd.DataFrame | None) -> None:
    from fsgreen import rules

    print(f"rule {rule.number}: {rule.name} ({rule.group})")
    parts = {
        "rule": rule.text,
        "kept": f"{rule.mode}, {rules.MODES[rule.mode]}",
        "source": "; ".join(f"{name}: {rules.sources()[name]}" for name in rule.sources),
        "in": ", ".join(f"fsgreen/{file}" for file in rule.where),
        "asked": rule.question,
        "if it fires": rule.consequence,
    }
    if campaign is None or answers is None:
        parts["then"] = rule.remedy.format(**rules.ANY)
    else:
        row = answers.loc[rule.number]
        parts["then"] = row["remedy"]
        parts[campaign] = f"{row['state']}: {row['found']}"
    width = max(map(len, parts))
    for name, text in parts.items():
        command.show(f"  {name:{width}}  {text}", hang=width + 4)
