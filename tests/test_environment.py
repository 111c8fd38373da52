"""requirements.txt, pyproject.toml, environment.yml and course.py describe one environment."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import course_utils.environment as environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
SYSTEMS = {
    "linux": {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"},
    "darwin": {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin"},
    "win32": {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"},
}


@pytest.fixture(scope="module")
def project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def pins(root: Path) -> list[Requirement]:
    lines = (root / "requirements.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def conda(root: Path) -> dict:
    return yaml.safe_load((root / "environment.yml").read_text("utf-8"))


def versions_on(pins: list[Requirement], system: str, python: str) -> dict[str, Version]:
    """The pinned version of each package on one system with one Python."""
    there = {**SYSTEMS[system], "python_version": python, "python_full_version": f"{python}.9"}
    chosen: dict[str, Version] = {}
    for pin in pins:
        if pin.marker is None or pin.marker.evaluate(there):
            name = canonicalize_name(pin.name)
            assert name not in chosen, f"{name} is pinned twice on {system}, Python {python}"
            chosen[name] = exact_version(pin)
    return chosen


def exact_version(pin: Requirement) -> Version:
    (specifier,) = pin.specifier
    assert specifier.operator == "==", f"{pin} is not an exact version"
    return Version(specifier.version)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_direct_dependency_is_pinned_within_its_range(project, pins, system, python):
    chosen = versions_on(pins, system, python)
    there = {**SYSTEMS[system], "python_version": python, "python_full_version": f"{python}.9"}
    faults = []
    for text in project["dependencies"] + project["optional-dependencies"]["test"]:
        wanted = Requirement(text)
        if wanted.marker and not wanted.marker.evaluate(there):
            continue
        version = chosen.get(canonicalize_name(wanted.name))
        if version is None or not wanted.specifier.contains(version):
            faults.append(f"{text}: pinned is {version}")
    assert not faults


def test_building_the_course_needs_no_package_that_is_not_pinned(root, pins):
    needed = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    chosen = versions_on(pins, "linux", "3.12")
    for text in needed:
        assert Requirement(text).specifier.contains(chosen[Requirement(text).name])


def test_no_pin_needs_cuda(pins):
    large = [pin.name for pin in pins if re.match(r"nvidia|cuda|triton", pin.name)]
    assert not large


def test_conda_takes_the_same_torch_and_every_other_pin(conda, pins):
    *packages, by_pip = conda["dependencies"]
    torch = versions_on(pins, "linux", "3.12")["torch"]
    assert f"pytorch-cpu={torch}" in packages
    assert by_pip["pip"] == ["-r requirements.txt", "-e ."]


def test_conda_has_a_python_that_the_course_is_for(conda, project):
    (python,) = [name for name in conda["dependencies"] if str(name).startswith("python=")]
    assert SpecifierSet(project["requires-python"]).contains(python.partition("=")[2])


def test_all_places_name_the_same_pythons(root, project):
    inside = SpecifierSet(project["requires-python"])
    allowed = [minor for minor in range(100) if inside.contains(f"3.{minor}")]
    assert list(environment.SUITABLE) == allowed
    assert [f"3.{minor}" for minor in allowed] == PYTHONS
    starter = (root / "course.py").read_text("utf-8")
    assert f"OLDEST = (3, {allowed[0]})\nNEWEST = (3, {allowed[-1]})\n" in starter
    workflow = yaml.safe_load((root / ".github/workflows/test.yml").read_text("utf-8"))
    tried = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert tried == [PYTHONS[0], PYTHONS[-1]]


def test_no_committed_file_names_a_package_registry(root):
    """Which registry is used is the choice of each machine's pip, and of nothing in the course."""
    registries = re.compile(
        rb"(pypi|pythonhosted|download\.pytorch|registry\.npmjs|conda\.anaconda)\.(org|com)"
        rb"|^\s*(-i|--(extra-)?index-url|--find-links)\b",
        re.MULTILINE,
    )
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, check=True,
    )  # fmt: skip
    files = [root / name for name in listed.stdout.decode().split("\0") if name]
    assert len(files) > 10
    naming = [file for file in files if file.is_file() and registries.search(file.read_bytes())]
    assert not naming
