"""The class's roster: a CSV as Canvas or Moodle exports it, or one with a column `name` and what else is known."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from course_utils.refusal import Refusal

# what the columns are called, in lower case: Canvas's gradebook, Moodle's participants, and plain words
_COLUMNS = {
    "name": ("student", "name", "full name", "fullname"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "id": ("id", "canvas id", "user id"),
    "sis_id": ("sis user id", "id number", "idnumber", "student id", "matriculation number"),
    "login": ("sis login id", "username", "login"),
    "email": ("email", "email address", "e-mail", "e-mail address"),
    "section": ("section", "group", "groups"),
}
_NO_PERSON = ("points possible", "student, test")  # lines of Canvas's gradebook that are nobody


@dataclass(frozen=True)
class Person:
    """Someone in the class, by everything that an LMS may know them by."""

    name: str
    id: str = ""
    sis_id: str = ""
    login: str = ""
    email: str = ""
    section: str = ""

    def names(self) -> Iterator[str]:
        """Every way in which a file's name may speak of them."""
        first, comma, last = self.name.partition(",")
        words = f"{last} {first}".split() if comma else self.name.split()
        # Canvas writes the family name first, and which of several words that is, is not known
        yield from ("".join(words[i:] + words[:i]) for i in range(max(len(words), 1)))
        yield from (self.id, self.sis_id, self.login, self.email, self.email.partition("@")[0])


class Roster:
    """The people of a class, found by whatever a file's name says of them."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = tuple(people)
        keys = [(key, one) for one in self.people for key in {_squeezed(name) for name in one.names()} if key]
        times = Counter(key for key, _ in keys)
        self._by_key = {key: one for key, one in keys if times[key] == 1}  # what fits two people tells nothing
        self._by_id = {one.id: one for one in self.people if one.id}

    def find(self, name: str, number: str = "") -> Person | None:
        """Who that is: by the LMS's number, else by name, login, e-mail or student number."""
        return self._by_id.get(number) or self._by_key.get(_squeezed(name))


def read_roster(path: Path) -> Roster:
    """The roster in a CSV. Refuses one without names."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Refusal(f"--roster {path} cannot be read as CSV in UTF-8: {error}.") from None
    people = [person for line in lines if (person := _person(line))]
    if not people:
        raise Refusal(
            f"--roster {path}: no line with a name. It needs a column `Student`, or `name`, or Moodle's names."
        )
    return Roster(people)


def _person(line: Mapping[str | None, object]) -> Person | None:
    given = {str(key).strip().lower(): value.strip() for key, value in line.items() if isinstance(value, str)}
    known = {field: next((given[one] for one in titles if given.get(one)), "") for field, titles in _COLUMNS.items()}
    name = known["name"] or " ".join(filter(None, (known["first"], known["last"])))
    if not name or name.lower().startswith(_NO_PERSON):
        return None
    return Person(name, **{one.name: known[one.name] for one in fields(Person) if one.name != "name"})


def _squeezed(name: str) -> str:
    """The name's letters and digits, small and without accents: file names have lost the rest."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in plain if letter.isalnum())
