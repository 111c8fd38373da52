"""What goes to where submissions run: every exercise's probe, and of no exercise the truth or a mistake."""

from __future__ import annotations

import sys

import pytest

from course_utils.checks.catalogue import all_exercises, find
from course_utils.checks.evidence import as_text, gather
from course_utils.grading.cut import probe_of
from course_utils.grading.definitions import PACKAGE, definitions, name_of, reached
from course_utils.grading.sandbox import WHOLE

EXERCISES = list(all_exercises())


@pytest.mark.parametrize("name", EXERCISES)
def test_neither_truth_nor_mistakes_go_along(name):
    exercise = find(name)
    module = sys.modules[exercise.probe.__module__]
    own = name_of(exercise, module)
    made_of = set().union(*(one.uses for one in definitions(module) if own in one.gives))
    written = {one for one in made_of if one in _functions(module.__name__)} - {exercise.probe.__name__}
    sent = reached(module.__name__, [exercise.probe.__name__], [PACKAGE + one for one in WHOLE])
    there = {given for one in sent[module.__name__] for given in one.gives}
    assert not written & there
    assert not any("Exercise(" in code or "Misconception(" in code for code in probe_of(name)["modules"].values())


def _functions(module: str) -> set[str]:
    code = [one for one in definitions(sys.modules[module]) if one.code.startswith(("def ", "class "))]
    return {name for one in code for name in one.gives}


def test_a_class_that_is_the_truth_stays_away_from_its_own_exercise():
    assert "class Value" not in probe_of("operations")["modules"]["course_utils.checks.graphs"]
    assert "class Value" in probe_of("engine_backward")["modules"]["course_utils.checks.graphs"]


@pytest.mark.parametrize("name", EXERCISES)
def test_what_is_sent_sees_what_the_whole_sees(name, monkeypatch):
    from course_utils.grading.inside import probe

    exercise = find(name)
    sent = probe_of(name)
    for module in sent["modules"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    probe.load(sent)
    loaded = probe._loaded[0]
    for seed in (1, 2):
        assert as_text(gather(loaded, exercise.truth, seed)) == as_text(gather(exercise, exercise.truth, seed))


def test_a_probe_without_a_name_is_refused():
    with pytest.raises(LookupError, match="gives no name"):
        name_of(lambda: None, sys.modules[__name__])
