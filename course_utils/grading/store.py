"""What grading has found out, kept as it arrives: one SQLite file that survives whatever ends the grader."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from course_utils.grading.verdict import Graded
from course_utils.refusal import Refusal

NAME = "grading.sqlite"
WAIT = 60.0  # seconds for another grader's write to end; each takes milliseconds
_VERSION = 2

# A result belongs to what a file holds and not to its name: a renamed file is not run again, a changed one is.
# `stands` is 0 for a result that a regrade has set aside; it stays readable.
_TABLES = (
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS submission (
        place TEXT PRIMARY KEY, source BLOB NOT NULL, file TEXT NOT NULL, student TEXT NOT NULL, id TEXT NOT NULL,
        unit TEXT NOT NULL, digest TEXT NOT NULL, fault TEXT NOT NULL, modified REAL NOT NULL, notes TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS result (
        digest TEXT NOT NULL, exercise TEXT NOT NULL, fingerprint TEXT NOT NULL, status TEXT NOT NULL, points REAL,
        label TEXT NOT NULL, note TEXT NOT NULL, evidence TEXT NOT NULL, at REAL NOT NULL, stands INTEGER NOT NULL,
        suspicious TEXT NOT NULL DEFAULT '')""",
    "CREATE UNIQUE INDEX IF NOT EXISTS standing ON result (digest, exercise, fingerprint) WHERE stands",
    """CREATE TABLE IF NOT EXISTS override (
        student TEXT NOT NULL, exercise TEXT NOT NULL, points REAL NOT NULL, why TEXT NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (student, exercise))""",
)


@dataclass(frozen=True)
class Entry:
    """A submission as the store knows it.

    `source` is the file on the disk that holds it, `place` where it stands there, `file` what it is called in reports,
    `id` the LMS's number for the student if the file's name has it, `modified` when it was last changed.
    """

    place: str
    source: str
    file: str
    student: str
    id: str
    unit: str
    digest: str
    fault: str = ""
    modified: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Override:
    """Points that a person has given in place of the grader's, and why."""

    points: float
    why: str


class Store:
    """The open file. Every method that writes does so wholly or not at all."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @property
    def seed(self) -> int:
        """The secret seed of every run that goes into this store."""
        return int(self._one("SELECT value FROM about WHERE name = 'seed'"))

    # what the command line said -------------------------------------------------------------------------------

    def remember(self, name: str, value: object) -> None:
        """Keep something that can be JSON, until it is given anew."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value)))

    def remembered(self, name: str) -> object:
        """What was kept under this name; None if nothing was."""
        found = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return json.loads(found[0]) if found else None

    # what was handed in ---------------------------------------------------------------------------------------

    def enter(self, entries: Iterable[Entry]) -> None:
        """Add submissions; a file that is known already is known anew."""
        rows = [(*astuple(replace(one, source=os.fsencode(one.source)))[:-1], json.dumps(one.notes)) for one in entries]
        with self._writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO submission VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def entries(self) -> list[Entry]:
        """Every submission whose file still exists, in the order of their files."""
        found = self._connection.execute("SELECT * FROM submission ORDER BY file, place").fetchall()
        entries = (
            Entry(place, os.fsdecode(source), *rest, notes=tuple(json.loads(notes)))
            for place, source, *rest, notes in found
        )
        # a link that leads nowhere is there all the same, and has its row
        return [one for one in entries if Path(one.source).exists() or Path(one.source).is_symlink()]

    # what became of it ----------------------------------------------------------------------------------------

    def add(self, digest: str, graded: Iterable[Graded], fingerprints: Mapping[str, str]) -> None:
        """Keep the outcomes of one submission. Where another grader was faster, its outcome stays."""
        now = time.time()
        rows = [
            (digest, g.exercise, fingerprints[g.exercise], g.status, g.points, g.label, g.note, g.evidence, now, 1, odd)
            for g in graded
            for odd in [g.suspicious]
        ]
        with self._writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def results(self, digest: str, fingerprints: Mapping[str, str]) -> dict[str, Graded]:
        """The outcomes that stand for what a file holds, by exercise: those that these checks gave."""
        found = self._connection.execute(
            "SELECT exercise, fingerprint, status, points, label, note, evidence, suspicious FROM result "
            "WHERE digest = ? AND stands",
            (digest,),
        )
        return {
            exercise: Graded(exercise, status, _number(points), label, note, evidence, suspicious=suspicious)
            for exercise, fingerprint, status, points, label, note, evidence, suspicious in found
            if fingerprints.get(exercise) == fingerprint
        }

    def set_aside(self, digests: Sequence[str], exercises: Sequence[str]) -> None:
        """Let none of these outcomes stand any longer: they are to be found out anew."""
        pairs = [(digest, exercise) for digest in digests for exercise in exercises]
        with self._writing() as connection:
            connection.executemany("UPDATE result SET stands = 0 WHERE digest = ? AND exercise = ?", pairs)

    def set_aside_faults(self) -> None:
        """Let no fault of the grader stand: the next run may do better."""
        with self._writing() as connection:
            connection.execute("UPDATE result SET stands = 0 WHERE stands AND status = 'grader error'")

    # what a person said ---------------------------------------------------------------------------------------

    def override(self, student: str, exercise: str, override: Override) -> None:
        """Keep the points that a person gives."""
        row = (student, exercise, override.points, override.why, time.time())
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO override VALUES (?, ?, ?, ?, ?)", row)

    def withdraw(self, student: str, exercise: str) -> bool:
        """Take an override back; False if there was none."""
        with self._writing() as connection:
            where = "WHERE student = ? AND exercise = ?"
            return connection.execute(f"DELETE FROM override {where}", (student, exercise)).rowcount > 0

    def overrides(self) -> dict[tuple[str, str], Override]:
        """Every override, by student and exercise."""
        found = self._connection.execute("SELECT student, exercise, points, why FROM override")
        return {(student, exercise): Override(_number(points), why) for student, exercise, points, why in found}

    def _one(self, query: str) -> str:
        return self._connection.execute(query).fetchone()[0]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction. Refuses, with the next move, what the disk or another program makes impossible."""
        try:
            # at once and not at the first write: two graders then wait for each other, and neither fails
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has ended it already
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise Refusal(
                f"{self.path} cannot be written: {error}. What it holds is kept; mend that, and run the same command "
                "again."
            ) from error


@contextlib.contextmanager
def open_store(folder: Path, *, new: bool = True) -> Iterator[Store]:
    """The store in a folder, made if it is not there and may be `new`. Refuses a file that is none."""
    path = folder / NAME
    if not new and not path.exists():
        raise Refusal(f"{folder} holds no {NAME}: name the --out folder of an earlier `course grade`.")
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # grades, and the seed: for its owner alone
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=WAIT, isolation_level=None)) as connection:
            store = Store(path, connection)
            _prepare(store)
            yield store
    except sqlite3.DatabaseError as error:
        raise Refusal(f"{path} cannot be read ({error}): move it away, or name another --out folder.") from error


def _prepare(store: Store) -> None:
    version = int(store._one("PRAGMA user_version"))
    if version > _VERSION:
        raise Refusal(f"{store.path} is by a newer release of the course: grade with that one, or into another folder.")
    if version == _VERSION:
        return
    with store._writing() as connection:
        for table in _TABLES:
            connection.execute(table)
        if version == 1:
            connection.execute("ALTER TABLE result ADD COLUMN suspicious TEXT NOT NULL DEFAULT ''")
        seed = str(secrets.randbits(32))
        connection.execute("INSERT OR IGNORE INTO about VALUES ('seed', ?)", (seed,))
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def _number(points: float | None) -> float | None:
    """Points as they are written: a whole number without a point in it."""
    return points if points is None or points % 1 else int(points)
