"""The README and the pages beside it say what is there."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_pictures_are_what_the_course_draws():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file, svg in module.pictures().items():
        assert file.read_text(encoding="utf-8") == svg, "run `python docs/pictures.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_folder_map_names_every_folder_and_file():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("## The folders")[1].split("```")[1]
    named = set(re.findall(r"^(\w[\w.]*)", block, flags=re.M))
    inside = set(re.findall(r"^  (\w+)/ ", block, flags=re.M))
    tracked = [Path(file).parts for file in tracked_files()]
    assert {parts[0] for parts in tracked if len(parts) > 1 and not parts[0].startswith(".")} <= named
    assert {parts[1] for parts in tracked if parts[0] == "course_utils" and len(parts) > 2} == inside
    assert [name for name in named if not (ROOT / name).exists()] == []


def tracked_files() -> list[str]:
    """The files that git tracks; outside a checkout, as in an archive, all that are there."""
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode == 0:
        return git.stdout.splitlines()
    return [str(path.relative_to(ROOT)) for path in ROOT.glob("course_utils/*/*.*")]


def test_readme_lists_every_command():
    from typer.main import get_command

    from course_utils.cli import app

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w+)", text, flags=re.M))
    assert listed == set(get_command(app).commands)


def test_readme_lists_every_unit():
    from course_utils.build.outline import read_course

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    course, _ = read_course(ROOT)
    assert [unit.title for unit in course.units if f"| {unit.name[:2]} {unit.title} |" not in text] == []
