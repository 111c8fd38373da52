"""The proof that the checks work: right answers pass, every known mistake is named, no mutant survives."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from rich.console import Console
from rich.table import Table

from course_utils.checks.catalogue import all_exercises
from course_utils.checks.checking import examine, judge, true_evidence, usual_seed
from course_utils.checks.evidence import Evidence, NotAttempted, gather, observe, same_evidence
from course_utils.checks.exercise import Exercise
from course_utils.checks.plain import as_json, from_json
from course_utils.checks.solutions import NeverEnds, Solution, read_solutions, step_budget

OTHER_SEEDS = (1, 2, 3)  # the verdict must not hang on the inputs that a learner happens to see
AT_LEAST = 3  # misconceptions, and right variants, of every exercise


@dataclass(frozen=True)
class Proof:
    """What was tried on one exercise's check, and everything that went wrong."""

    exercise: Exercise
    variants: int
    mutants: int
    equivalent: int
    faults: tuple[str, ...]


def prove(root: Path) -> int:
    """Try every check in the course, print the count, and return 0 if nothing is wrong, else 1.

    `root` holds solutions/ and tests/checks/, where the right variants and the equivalent mutants stand.
    """
    proofs = [prove_exercise(exercise, root) for exercise in all_exercises().values()]
    console = Console()
    console.print(_table(proofs))
    faults = [f"{proof.exercise.name}: {fault}" for proof in proofs for fault in proof.faults]
    for fault in faults:
        console.print(f"✘ {fault}", markup=False, highlight=False, soft_wrap=True)
    if not proofs:
        console.print("There are no exercises to prove.")
    return 1 if faults or not proofs else 0


def prove_exercise(exercise: Exercise, root: Path) -> Proof:
    """Everything that the proof tries on one exercise."""
    solution = find_solution(exercise, root)
    evidence = load_variants(exercise, root)
    variants = evidence.RIGHT.get(exercise.name, ())
    excused = evidence.EQUIVALENT.get(exercise.name, {})
    truth = true_evidence(exercise, usual_seed(exercise))
    mutants = solution.mutants()
    survivors = [mutant.change for mutant in mutants if _survives(exercise, truth, solution, mutant.source)]
    faults = (
        *_right_answers(exercise, solution, variants),
        *_wrong_answers(exercise),
        *(f"a mutant of the solution passes: {change}" for change in survivors if change not in excused),
        *(f"is listed as an equivalent mutant and is none: {change}" for change in excused if change not in survivors),
    )
    return Proof(exercise, len(variants), len(mutants), len(survivors), faults)


def find_solution(exercise: Exercise, root: Path) -> Solution:
    """The exercise's solution; LookupError if its notebook has none."""
    for solution in read_solutions(root / "solutions" / f"{exercise.unit}.ipynb"):
        if solution.name == exercise.name:
            return solution
    raise LookupError(f"solutions/{exercise.unit}.ipynb has no answer cell {exercise.name!r}: run `course build`")


def load_variants(exercise: Exercise, root: Path) -> ModuleType:
    """The module tests/checks/STEM.py: RIGHT has the variants by exercise, EQUIVALENT the excused mutants."""
    stem = exercise.unit.split("_", 1)[1]
    spec = importlib.util.spec_from_file_location(f"variants_{stem}", root / "tests" / "checks" / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _right_answers(exercise: Exercise, solution: Solution, variants: tuple[object, ...]) -> Iterator[str]:
    if len(variants) < AT_LEAST:
        yield f"has {len(variants)} right variants, {AT_LEAST} are asked for"
    for number, answer in enumerate((solution.answer(), *variants)):
        who = f"right variant {number}" if number else "the solution"
        result = examine(exercise, answer, usual_seed(exercise))
        if result.status != "right":
            yield f"{who} is rejected: {result!r}"
        elif not all(_right_when_sent(exercise, _evidence(exercise, answer, seed), seed) for seed in OTHER_SEEDS):
            yield f"{who} passes here and fails under another seed, as a grader would use"


def _wrong_answers(exercise: Exercise) -> Iterator[str]:
    if len(exercise.misconceptions) < AT_LEAST:
        yield f"has {len(exercise.misconceptions)} misconceptions, {AT_LEAST} are asked for"
    for misconception in exercise.misconceptions:
        for witness in misconception.witnesses:
            yield from _witness(exercise, misconception.label, witness)
    if exercise.given is not None:
        result = examine(exercise, exercise.given, usual_seed(exercise))
        if result.status != "not attempted":
            yield f"the code as given counts as {result.status!r}"


def _witness(exercise: Exercise, label: str, witness: object) -> Iterator[str]:
    seen = {seed: _evidence(exercise, witness, seed) for seed in (usual_seed(exercise), *OTHER_SEEDS)}
    for seed, evidence in seen.items():
        found = _label(exercise, evidence, seed)
        if found != label:
            yield f"a witness of {label!r} is answered by {found!r} (seed {seed})"
    if any(_right_when_sent(exercise, seen[seed], seed) for seed in OTHER_SEEDS):
        yield f"a witness of {label!r} gives the evidence of a right answer"


def _evidence(exercise: Exercise, answer: object, seed: int) -> Evidence | None:
    """The evidence of an answer; None if it counts as not attempted."""
    try:
        return gather(exercise, answer, seed)
    except NotAttempted:
        return None


def _label(exercise: Exercise, evidence: Evidence | None, seed: int) -> str:
    if evidence is None:
        return "not attempted"
    result = judge(exercise, evidence, seed)
    return result.diagnosis.label if result.diagnosis else result.status


def _survives(exercise: Exercise, truth: Evidence, solution: Solution, source: str) -> bool:
    """Whether a changed solution is taken for a right one."""
    try:
        with step_budget():
            answer = solution.answer(source)
            seen = observe(exercise, answer, usual_seed(exercise))
            return all(one.agrees_with(right) for one, right in zip(seen, truth, strict=True))
    except (Exception, NeverEnds):
        return False  # it did not get as far as an answer


def _right_when_sent(exercise: Exercise, evidence: Evidence | None, seed: int) -> bool:
    """Whether the grader takes the evidence for right: it compares the numbers that were sent, shortened, as text."""
    if evidence is None:
        return False
    sent = tuple(replace(one, value=from_json(as_json(one.value))) for one in evidence)
    return same_evidence(sent, true_evidence(exercise, seed))


def _table(proofs: list[Proof]) -> Table:
    table = Table(title="The checks, tried")
    table.add_column("exercise", no_wrap=True)
    for column in ("mistakes", "variants", "mutants", "equivalent", "faults"):
        table.add_column(column, justify="right")
    rows = [(len(p.exercise.misconceptions), p.variants, p.mutants, p.equivalent, len(p.faults)) for p in proofs]
    for proof, row in zip(proofs, rows, strict=True):
        table.add_row(proof.exercise.name, *map(str, row))
    table.add_section()
    table.add_row(f"{len(proofs)} exercises", *(str(sum(column)) for column in zip(*rows, strict=True)))
    return table
