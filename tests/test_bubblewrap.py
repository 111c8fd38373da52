"""How the tests of the grader come by bubblewrap."""

from __future__ import annotations

import sys

import pytest

from course_utils import bubblewrap
from course_utils.refusal import Refusal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux's")


@pytest.fixture
def ran(monkeypatch):
    """What was run as root, on a machine that is no CI's."""
    commands = []
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv(bubblewrap.WITHOUT, raising=False)
    monkeypatch.setattr(bubblewrap.subprocess, "run", lambda command, **options: commands.append(command))
    monkeypatch.setattr(bubblewrap.os, "geteuid", lambda: 1000)
    return commands


def only(*programs):
    return lambda name: f"/bin/{name}" if name in programs else None


def test_where_it_is_nothing_is_done(ran, monkeypatch):
    monkeypatch.setattr(bubblewrap.shutil, "which", only("bwrap", "apt-get", "sudo"))
    bubblewrap.get_bubblewrap()
    assert ran == []


def test_where_it_is_not_debians_is_installed_and_else_it_says_how(ran, monkeypatch):
    monkeypatch.setattr(bubblewrap.shutil, "which", only("apt-get", "sudo"))
    with pytest.raises(Refusal, match="apt install bubblewrap"):
        bubblewrap.get_bubblewrap()
    assert ran[1] == ("sudo", "--non-interactive", "apt-get", "install", "--yes", "bubblewrap")


def test_whoever_wants_to_do_without_it_says_so(ran, monkeypatch):
    monkeypatch.setattr(bubblewrap.shutil, "which", only())
    monkeypatch.setenv(bubblewrap.WITHOUT, "none")
    bubblewrap.get_bubblewrap()
    assert ran == []


def test_only_on_a_machine_of_ci_is_ubuntus_restriction_lifted(ran, monkeypatch, tmp_path):
    monkeypatch.setattr(bubblewrap.shutil, "which", only("bwrap", "sudo"))
    monkeypatch.setattr(bubblewrap, "_RESTRICTED", tmp_path)
    bubblewrap.get_bubblewrap()
    assert ran == []
    monkeypatch.setenv("CI", "true")
    bubblewrap.get_bubblewrap()
    assert ran[0][-1] == "kernel.apparmor_restrict_unprivileged_userns=0"
