"""The 52 rules for honest numbers: what each demands, and its state in a campaign.

`catalogue.yaml` holds the rules as data. A judge is a function that answers one rule from an
`Evidence`. Each module of this package holds the judges of one group of rules.
"""

from fsgreen.rules.answer import STATES
from fsgreen.rules.catalogue import MODES, Rule, rule, rules, sources
from fsgreen.rules.evidence import gather
from fsgreen.rules.remedies import ANY
from fsgreen.rules.trust import by_state, counts, judge, last_campaign, read, summary, write

__all__ = [
    "ANY",
    "MODES",
    "STATES",
    "Rule",
    "by_state",
    "counts",
    "gather",
    "judge",
    "last_campaign",
    "read",
    "rule",
    "rules",
    "sources",
    "summary",
    "write",
]
