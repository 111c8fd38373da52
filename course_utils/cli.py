"""`course ...`: reads the command line and calls the part of the course that does the work.

Each command imports its part when it runs, so that `course --help` is quick and a fault in one
part does not stop the others.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from course_utils.refusal import Refusal

ROOT = Path(__file__).resolve().parents[1]

_EXECUTE = "Run every notebook again: needed after a change in course_utils, which a source does not show."
_REGRADE = "Run a student's exercises, or everyone's of one exercise, or all again. May be given more than once."
_STUDENT_FROM = "Finds the student in a file's path: its group `student`, or its first one."
_LATE_PENALTY = "Percent of the points that each day begun after --due costs; 0 only notes it."
_SCHEDULER = "Let the workers of Dask's scheduler at tcp://... or tls://... run them: docs/cluster.md."
_KERNEL = "What runs the cells: children of a process that has loaded PyTorch, or, slower, Jupyter's own kernel."
_TRUST = "Run without walls around submissions: with your rights, as if you had opened them yourself."
_TIMES = ["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"]

app = typer.Typer(
    help="Autograd, step by step: an interactive course on PyTorch's autograd.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Runs the command that the command line names, and ends the process with its exit code."""
    try:
        if not (ROOT / "sources").is_dir():
            raise Refusal(
                f"{ROOT} is not a clone of the course, it has no folder sources/. Clone the "
                "course, and start the course.py in it."
            )
        app(prog_name="course")
    except Refusal as reason:
        print(f"course: {reason}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:  # a disk that is full, a file that may not be read or written
        print(f"course: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:  # before a command could answer it in its own way
        print("course: interrupted.", file=sys.stderr)
        sys.exit(130)


@app.command()
def lab(
    notebook: Annotated[str | None, typer.Argument(help="A unit (1, 01_one_operation) or a notebook's path.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="If it is taken, the next free one is used.")] = 8888,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser, or only say where.")] = True,
) -> None:
    """Open JupyterLab on a lesson; on the first one if none is named."""
    from course_utils.lab import open_lab

    raise typer.Exit(open_lab(ROOT, notebook, port, browser))


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def test(context: typer.Context) -> None:
    """Run every check there is. What follows `test` is handed to pytest."""
    from course_utils.testing import run_tests

    raise typer.Exit(run_tests(ROOT, context.args))


@app.command()
def build(
    names: Annotated[list[str] | None, typer.Argument(help="Units to build; all of them if none is named.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a notebook is out of date.")] = False,
    execute: Annotated[bool, typer.Option("--execute", help=_EXECUTE)] = False,
    jobs: Annotated[int, typer.Option(min=1, help="How many notebooks to run at a time.")] = 2,
) -> None:
    """Write notebooks/, exercises/ and solutions/ from sources/."""
    from course_utils.build.command import build
    from course_utils.checks import catalogue

    options = {"check": check, "execute": execute, "names": names or [], "jobs": jobs}
    raise typer.Exit(build(ROOT, **options, known_exercises=catalogue()))


@app.command()
def new(name: Annotated[str, typer.Argument(help="For example 12_some_topic.")]) -> None:
    """Scaffold a unit that builds and passes, to be filled."""
    from course_utils.build.scaffold import new

    raise typer.Exit(new(ROOT, name))


@app.command()
def grade(
    submissions: Annotated[list[Path], typer.Argument(help="Notebooks, zip archives, or folders of them.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the gradebook.")],
    jobs: Annotated[int, typer.Option(min=0, help="How many submissions to run at a time; 0 for the cores.")] = 0,
    regrade: Annotated[list[str] | None, typer.Option(metavar="STUDENT|EXERCISE|all", help=_REGRADE)] = None,
    roster: Annotated[Path | None, typer.Option(help="The class as CSV, as Canvas or Moodle exports it.")] = None,
    student_from: Annotated[str, typer.Option(metavar="REGEX", help=_STUDENT_FROM)] = "",
    due: Annotated[
        datetime | None, typer.Option(formats=_TIMES, help="When it was due, by this machine's clock.")
    ] = None,
    late_penalty: Annotated[float, typer.Option(min=0, max=100, help=_LATE_PENALTY)] = 0,
    exercise_seconds: Annotated[float, typer.Option(min=0.1, help="What each exercise may take.")] = 30,
    submission_seconds: Annotated[float, typer.Option(min=1, help="What all of a submission may take.")] = 300,
    kernel: Annotated[str | None, typer.Option(metavar="forked|jupyter", help=_KERNEL)] = None,
    trust_submissions: Annotated[bool, typer.Option("--trust-submissions", help=_TRUST)] = False,
    scheduler: Annotated[str, typer.Option(metavar="ADDRESS", help=_SCHEDULER)] = "",
) -> None:
    """Grade submitted exercise notebooks into a gradebook. What the folder knows already is not run again."""
    from course_utils.grading.loading import loading

    with loading():
        from course_utils.checks.catalogue import all_exercises
        from course_utils.grading.command import About, grade
        from course_utils.grading.late import policy
        from course_utils.grading.limits import Limits
        from course_utils.grading.run import available_cores, way

        all_exercises()
    if late_penalty and due is None:
        raise Refusal("--late-penalty needs --due: say when the work was due.")
    about = About(roster, student_from, policy(due, late_penalty))
    how = way(kernel, trust_submissions, Limits(exercise_seconds, submission_seconds), scheduler)
    raise typer.Exit(grade(submissions, out, jobs or available_cores(), regrade=regrade or (), about=about, way=how))


# not `course grade override`: beside SUBMISSIONS, a folder of that name could not be told from a command
@app.command()
def override(
    student: Annotated[str, typer.Argument(help="As the gradebook names them.")],
    exercise: Annotated[str, typer.Argument(help="Its column in the gradebook.")],
    points: Annotated[float | None, typer.Argument(help="Leave out to take an override back.")] = None,
    why: Annotated[str, typer.Option(help="Stands in the gradebook beside the points.")] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="The gradebook's folder.")] = ...,
) -> None:
    """Give a student other points than the grader did; a regrade keeps them."""
    from course_utils.grading.command import override

    raise typer.Exit(override(student, exercise, points, why, out))


@app.command()
def progress() -> None:
    """Show where you stand over the whole course."""
    from course_utils.checks import progress

    print(progress())


@app.command()
def prove() -> None:
    """Prove that the checks accept right answers and tell wrong ones apart."""
    from course_utils.checks.proof import prove

    raise typer.Exit(prove(ROOT))


if __name__ == "__main__":
    main()
