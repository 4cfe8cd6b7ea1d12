"""The published numbers are whole: a lost claim would silently shrink the ledger."""

from collections import Counter

import yaml

from fsgreen import paths


def claims():
    return yaml.safe_load((paths.reference() / "claims.yaml").read_text())["claims"]


def test_every_claim_is_there():
    """326 claims, 99 of them of fast10."""
    count = Counter(claim["paper"] for claim in claims())
    assert count == {
        "fast10": 99,
        "massie25": 27,
        "nfstricks03": 77,
        "greenfs08": 71,
        "sun14": 52,
    }


def test_slugs_name_one_claim_each():
    """Code refers to claims by paper and slug."""
    keys = [(claim["paper"], claim["slug"]) for claim in claims()]
    assert len(keys) == len(set(keys))
