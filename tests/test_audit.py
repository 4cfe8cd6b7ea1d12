"""Trials of different machines must not be pooled without anybody noticing."""

import json

from fsgreen import audit


def test_the_audit_of_this_machine_is_plain_data_with_all_checked_keys() -> None:
    found = audit.audit()
    assert json.loads(json.dumps(found)) == found
    assert set(audit.CHECKED) <= found.keys()
    assert found["cores_count"] >= 1
    assert found["memory_b"] > 2**20


def test_a_checked_key_that_changed_is_reported_with_both_values() -> None:
    first = audit.audit()
    second = {**first, "governor": "powersave-of-another-day", "load_1min": 99.0}
    assert audit.differences([first, second]) == {
        "governor": [first["governor"], "powersave-of-another-day"]
    }


def test_equal_machines_have_no_differences() -> None:
    assert audit.differences([audit.audit(), audit.audit()]) == {}
