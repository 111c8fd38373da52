"""An explorer in a cell of a notebook on the page: its controls, its picture, and what it says."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from playwright.sync_api import Locator, expect

from .lab_page import LabPage


@dataclass(frozen=True)
class Explorer:
    """An explorer on the page: its controls, and what it says."""

    cell: Locator

    def says(self, words: str) -> str:
        """What is written below the picture, once it holds these words; the picture says the same."""
        status = self.cell.get_by_role("status")
        expect(status).to_contain_text(words)
        text = status.inner_text()
        expect(self.picture).to_have_attribute("alt", text)
        return text

    @property
    def picture(self) -> Locator:
        return self.cell.locator("img")

    @property
    def drawn(self) -> str:
        """The SVG of the picture, as text."""
        return base64.b64decode(self.picture.get_attribute("src").partition("base64,")[2]).decode()

    def slider(self, name: str) -> Locator:
        return self.cell.get_by_role("slider", name=name, exact=True)

    def chosen(self, label: str) -> Locator:
        return self.cell.get_by_label(label, exact=True)


def fresh(page: LabPage, name: str) -> Explorer:
    """The explorer as it stands when its cell has just run."""
    page.run(name)
    found = Explorer(page.cell(name))
    expect(found.picture).to_be_visible()
    expect(found.cell.get_by_role("status")).not_to_be_empty()
    return found
