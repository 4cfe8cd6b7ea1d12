"""What dvc.yaml declares of its stages, for a campaign of params.yaml."""

import yaml

from fsgreen import paths

PARAMS = yaml.safe_load((paths.root() / "params.yaml").read_text())["campaigns"]
DVC = yaml.safe_load((paths.root() / "dvc.yaml").read_text())["stages"]


def entries(stage: str, kind: str, campaign: str) -> list[str]:
    """The dependencies (`deps`) or outputs (`outs`) of a stage for a campaign."""
    listed = DVC[stage].get("do", DVC[stage]).get(kind, [])
    return [
        _filled(entry if isinstance(entry, str) else next(iter(entry)), campaign)
        for entry in listed
    ]


def _filled(text: str, campaign: str) -> str:
    for name, value in PARAMS[campaign].items():
        text = text.replace(f"${{item.{name}}}", value)
    return text.replace("${item}", PARAMS[campaign]["study"]).replace("${key}", campaign)
