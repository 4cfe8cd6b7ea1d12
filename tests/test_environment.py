"""One set of dependencies, three doors: pyproject.toml, requirements.lock, environment.yml."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from fsgreen import paths

NINE = {
    "dvc",
    "ipywidgets",
    "jupyterlab",
    "nbval",
    "pandas",
    "papermill",
    "pyserial",
    "seaborn",
    "statsmodels",
}
PYTHONS = ("3.11", "3.12", "3.13")

PROJECT = tomllib.loads((paths.root() / "pyproject.toml").read_text())
LOCK = (paths.root() / "requirements.lock").read_text()
CONDA = yaml.safe_load((paths.root() / "environment.yml").read_text())


def declared() -> dict[str, SpecifierSet]:
    """Name and version range of everything that pyproject.toml asks for."""
    texts = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    requirements = [Requirement(text) for text in texts]
    return {canonicalize_name(r.name): r.specifier for r in requirements}


def locked(python: str) -> dict[str, str]:
    """Name and version of everything that the lock installs on a version of Python."""
    found = {}
    for text in re.findall(r"^([a-z0-9][^\\\n]*?) *\\$", LOCK, flags=re.MULTILINE):
        requirement = Requirement(text)
        environment = {"python_version": python, "python_full_version": f"{python}.0"}
        if requirement.marker is None or requirement.marker.evaluate(environment):
            (version,) = requirement.specifier
            assert version.operator == "=="
            found[requirement.name] = version.version
    return found


def conda() -> dict[str, SpecifierSet]:
    """Name and version range of everything in environment.yml but Python and pip themselves."""
    plain = [entry for entry in CONDA["dependencies"] if isinstance(entry, str)]
    (section,) = [entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict)]
    own = [entry for entry in section if not entry.startswith("-")]
    requirements = [Requirement(text) for text in plain + own]
    return {
        canonicalize_name(r.name): r.specifier
        for r in requirements
        if r.name not in {"python", "pip"}
    }


def test_the_nine_packages_are_pinned_to_one_version() -> None:
    for name in NINE:
        assert [part.operator for part in declared()[name]] == ["=="], name


def test_conda_asks_for_the_same_names_and_versions() -> None:
    assert conda() == declared()


def test_conda_and_pyproject_ask_for_the_same_python() -> None:
    (python,) = [text for text in CONDA["dependencies"] if str(text).startswith("python>")]
    assert Requirement(python).specifier == SpecifierSet(PROJECT["project"]["requires-python"])
    assert all(version in Requirement(python).specifier for version in PYTHONS)


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_holds_everything_at_a_version_that_was_asked_for(python: str) -> None:
    versions = locked(python)
    for name, specifier in declared().items():
        assert versions.get(name, "none") != "none", f"{name} is not in the lock: ./run lock"
        assert versions[name] in specifier, f"{name} {versions[name]}: ./run lock"


def test_the_build_backend_is_the_locked_one() -> None:
    """./run installs without build isolation, so the lock must bring the backend."""
    for text in PROJECT["build-system"]["requires"]:
        requirement = Requirement(text)
        assert locked("3.11")[requirement.name] in requirement.specifier


def test_every_locked_package_has_a_hash() -> None:
    for block in re.split(r"\n(?=[a-z0-9])", LOCK.strip()):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block.splitlines()[0]


def test_the_lock_names_no_address_and_no_folder() -> None:
    """An index of one site, or a folder of one machine, would break every other one."""
    assert "://" not in LOCK
    assert not re.search(r"^\s*-(?!-hash=)", LOCK, flags=re.MULTILINE)
    assert "@ " not in LOCK
