"""One sound campaign for all tests of the rules; they change copies of it."""

import pytest
import sound_campaign


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    """What the judges see of a campaign on which every rule is quiet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("sound")))
        return sound_campaign.make_evidence()
