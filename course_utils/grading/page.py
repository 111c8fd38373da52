"""What every report page is made of: a frame that needs nothing from elsewhere, and tables that can be read aloud."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

# nothing may be loaded and no script may run, whatever a learner has got into the text
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, body: str) -> str:
    """A whole HTML page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def table(caption: str, titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table whose cells are HTML, the caption plain words.

    The first cell of each row is its header; those at `numbers` stand to the right.
    """
    right = set(numbers)

    def cells(row: Sequence[str]) -> str:
        first, *rest = row
        return f'<th scope="row">{first}</th>' + "".join(
            cell if cell.startswith("<td") else f"<td{_class(place in right)}>{cell}</td>"
            for place, cell in enumerate(rest, start=1)
        )

    head = "".join(f'<th scope="col"{_class(place in right)}>{title}</th>' for place, title in enumerate(titles))
    body = "\n".join(f"<tr>{cells(row)}</tr>" for row in rows)
    # what is wider than the screen is scrolled by itself, with the keyboard too
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">\n<table>\n<caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def bar(share: float) -> str:
    """A cell with a bar; it says nothing that a number beside it does not say."""
    return f'<td class="bar"><span aria-hidden="true" style="width:{100 * share:.0f}%"></span></td>'


def text(words: str) -> str:
    """Any text as HTML; what is no visible sign, and could turn a line around, is left out."""
    return escape("".join(sign if sign.isprintable() or sign == "\n" else " " for sign in words))


def _class(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


@functools.cache
def _style() -> str:
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")
