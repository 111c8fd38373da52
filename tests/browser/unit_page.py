"""One page in which the notebooks of all units are opened, one after the other: JupyterLab takes long to load."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from itertools import groupby

import pytest

from .lab_page import LabPage


class UnitPage:
    """The page, and what it shows; a new one after a test that failed, since nobody knows what that has left."""

    def __init__(self, new_page: Callable[[], AbstractContextManager[LabPage]], session: pytest.Session) -> None:
        self._new_page = new_page
        self._session = session
        self._open = ExitStack()
        self._page: LabPage | None = None
        self._shows: tuple[str, bool] | None = None
        self._failed = 0
        self._copies = 0

    def show(self, path: str, *, ran: bool) -> LabPage:
        """The page with a notebook of the course, as stored or with all its cells run, by whichever test that was."""
        if self._page is None or self._failed != self._session.testsfailed:
            self.close()
            self._failed = self._session.testsfailed
            self._page = self._open.enter_context(self._new_page())
        if self._shows not in ((path, ran), (path, False)):
            self._copies += 1
            self._page.open(self._page.lab.fresh_copy(path, f"copy_{self._copies}"))
            self._shows = path, False
        if self._shows != (path, ran):
            self._page.run_all()
            self._shows = path, True
        return self._page

    def close(self) -> None:
        """Ends the page, and the kernel behind it."""
        self._page = self._shows = None
        self._open.close()


def by_what_they_show(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items, those of a file in an order in which no notebook has to be opened twice."""
    return [item for _, group in groupby(items, lambda item: item.path) for item in sorted(group, key=_turn)]


def _turn(item: pytest.Item) -> int:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    asked = (*getattr(item, "fixturenames", ()), parameters.get("notebook"))
    return 0 if "as_cloned" in asked else 2 if "exercises" in asked else 1
