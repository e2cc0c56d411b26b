"""Lower bounds: one for each package, and what is said of versions with known holes."""

import tomllib
import warnings
from collections import defaultdict
from pathlib import Path

import pytest

from tradeoff import _extras
from tradeoff._extras import HOLES, Hole, import_extra, known_hole

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]


def bounds():
    found = defaultdict(set)
    groups = [*EXTRAS.values(), *PROJECT["dependency-groups"].values()]
    for requirement in [r for group in groups for r in group if isinstance(r, str)]:
        name, _, bound = requirement.partition(">=")
        found[name].add(bound)
    return found


def test_a_package_has_one_lower_bound():
    assert {name: found for name, found in bounds().items() if len(found) > 1} == {}


def test_extras_that_load_networks_name_the_bound_of_pytorch():
    """Otherwise their own dependencies would admit versions that do not work with ours."""
    for extra in ("torch", "hub", "onnx", "offline", "lightning", "torchmetrics"):
        assert any(requirement.startswith("torch>=") for requirement in EXTRAS[extra]), extra


@pytest.fixture
def installed(monkeypatch):
    """Sets the version of a package that seems to be installed, in a process that has not warned.

    The package is json, so that these tests do not need any of the packages with holes.
    """
    monkeypatch.setitem(HOLES, "json", Hole("pillow", "12.3", "CVE-1: a file can do harm"))

    def install(version):
        _extras._warn_of_hole.cache_clear()
        monkeypatch.setattr("tradeoff._extras.metadata.version", {"pillow": version}.__getitem__)

    yield install
    _extras._warn_of_hole.cache_clear()


def load():
    """What is said when the package is loaded."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import_extra("json.decoder", extra="images", purpose="Reading images")
    return [str(warning.message) for warning in caught]


def test_a_version_with_a_known_hole_is_named_once_with_the_way_out(installed):
    installed("11.3.0")
    assert load() == [
        "pillow 11.3.0 has a known vulnerability (CVE-1: a file can do harm): upgrade with "
        "pip install -U 'pillow>=12.3'."
    ]
    assert load() == []


@pytest.mark.parametrize("version", ["9.5", "12.2.0", "12.2.9.post1", "12.2.0+local"])
def test_versions_before_the_fix_are_told_of(version, installed):
    installed(version)
    assert len(load()) == 1


@pytest.mark.parametrize("version", ["12.3", "12.3.0", "12.3.0+cpu", "12.10", "13.0.0"])
def test_fixed_versions_are_not_told_of(version, installed):
    installed(version)
    assert load() == []


def test_where_a_file_would_run_code_importing_says_nothing(installed, monkeypatch):
    """The function that opens such a file refuses: see `tests/features/test_hostile.py`."""
    monkeypatch.setitem(HOLES, "json", Hole("pillow", "12.3", "CVE-1", runs_code=True))
    installed("11.3.0")
    assert load() == []
    assert known_hole("json") == ("11.3.0", HOLES["json"])


def test_packages_without_metadata_are_used_as_they_are(monkeypatch):
    monkeypatch.setitem(HOLES, "json", Hole("not-installed-anywhere", "1.0", "CVE-1"))
    assert known_hole("json") is None


def test_the_versions_that_we_develop_with_have_no_known_holes():
    assert {name: known_hole(name) for name in HOLES} == dict.fromkeys(HOLES)


def test_every_hole_is_one_of_a_version_that_we_accept():
    """Otherwise the lower bound excludes it, and its entry can go."""
    accepted = bounds()
    for hole in HOLES.values():
        (bound,) = accepted[hole.package]
        assert _extras._numbers(bound) < _extras._numbers(hole.fixed), hole.package


def test_the_page_on_security_lists_the_holes():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    for hole in HOLES.values():
        assert f"| {hole.package} before {hole.fixed} | {hole.what} |" in page
