"""What each box of a picture says: its title, and rows of chips for values, gradients, saved tensors."""

from __future__ import annotations

from dataclasses import dataclass, field

from course_utils.drawing import language
from course_utils.drawing.language import Look
from course_utils.drawing.lettering import shorten, text_width

TITLE, NAME, CHIP, LABEL = 14, 10.5, 12, 11.5
CHIP_HEIGHT, ROW_HEIGHT = 2 * CHIP, 29
HEADER, NAME_HEIGHT, NOTE_HEIGHT = 26, 15, 16
PADDING, GAP = 9, 7
PILE = 6
_MARK_WIDTH = 22


@dataclass(frozen=True)
class Chip:
    """A short text in the look of its role; `slot` names its place, which keeps its width."""

    text: str
    look: Look
    slot: object = None
    new: bool = False


@dataclass(frozen=True)
class Row:
    """Chips side by side, behind a quiet word; a `further` row leaves its room empty."""

    chips: tuple[Chip, ...]
    label: str = ""
    further: bool = False


@dataclass(frozen=True)
class Card:
    """A box: `name` is what torch calls it; `mark` says how far it is in the backward pass.

    `beside` puts the name beside the title, where height is dearer than width. A `pile` stands for
    several nodes.
    """

    look: Look
    title: str
    name: str = ""
    notes: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    mark: str = ""
    new: bool = False
    beside: bool = False
    pile: bool = False


@dataclass
class Rooms:
    """How wide each chip must be to hold every text that its slot will ever show."""

    widths: dict[object, float] = field(default_factory=dict)

    def reserve(self, slot: object, text: str) -> None:
        self.widths[slot] = max(self.widths.get(slot, 0), chip_width(text))

    def of(self, chip: Chip) -> float:
        return max(chip_width(chip.text), self.widths.get(chip.slot, 0))


def chip_width(text: str) -> float:
    """The width of a chip around `text`."""
    return max(CHIP_HEIGHT, text_width(text, CHIP) + 14)


def card_size(card: Card, rooms: Rooms) -> tuple[float, float]:
    """Width and height of a card; the same in every state of a recording."""
    title = text_width(card.title, TITLE, bold=True) + (_MARK_WIDTH if card.title else 0)
    name = text_width(card.name, NAME, code=True)
    lines = [title + GAP + name] if card.beside else [title, name]
    lines += [text_width(note, LABEL) for note in card.notes]
    lines += [row_width(row, rooms) for row in card.rows]
    header = HEADER + (NAME_HEIGHT if card.name and not card.beside else 0) if card.title else 8
    height = header + NOTE_HEIGHT * len(card.notes) + ROW_HEIGHT * len(card.rows)
    pile = PILE if card.pile else 0
    return max(lines) + 2 * PADDING + pile, height + 5 * bool(card.title) + pile


def row_width(row: Row, rooms: Rooms) -> float:
    """The width of a row."""
    label = text_width(row.label, LABEL) + GAP if row.label else 0
    return label + sum(map(rooms.of, row.chips)) + GAP * (len(row.chips) - 1)


def plain(text: str, look: Look = language.VALUE) -> Chip:
    """A chip whose text never changes."""
    return Chip(shorten(text, 28), look)
