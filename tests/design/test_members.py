"""The campaigns of a fleet's testbeds: a testbed that is measured by itself is part of it."""

import pytest

from fsgreen import design
from fsgreen.design.members import as_measured, member, parted
from fsgreen.fleet.messages import Order
from fsgreen.fleet.orders import study_of


@pytest.mark.parametrize(
    ("campaign", "fleet", "testbed"),
    [
        ("fast10-fleet.ram", "fast10-fleet", "ram"),
        ("v1.2.ram", "v1.2", "ram"),
        ("fast10-fleet", "", ""),
        ("fast10-fleet.", "", ""),
    ],
)
def test_a_name_tells_fleet_and_testbed(campaign: str, fleet: str, testbed: str) -> None:
    assert parted(campaign) == (fleet, testbed)
    assert not testbed or member(fleet, testbed) == campaign


def test_a_testbed_by_itself_has_the_order_that_it_has_in_the_fleet() -> None:
    """Else its trials would be of another plan, and the fleet would refuse them."""
    study = design.load_study("fast10")
    order = Order(campaign="f", study="fast10", profile="quick", plan_hash="0" * 64)
    alone = as_measured(study, "f.ram")
    assert alone == study_of(order, "ram")
    assert alone.seed != study.seed
    assert alone.seed != as_measured(study, "f.disk").seed
    assert as_measured(study, "f") == study
