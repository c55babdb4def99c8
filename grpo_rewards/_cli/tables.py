"""Tables of figures in a terminal, a notebook or a pipe: no figure is ever cut."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_GAP = 2  # between columns
_TEXT = 24  # the least of a column of text
_PIPE = 200  # the width where there is no terminal


def number(value: float | None) -> str:
    """Return a figure within a sentence."""
    return "none" if value is None else f"{value:.4g}"


def cell(key: str, value: float | None) -> str:
    """Return a figure of a summary, by its key, for a table; empty where there is none."""
    if value is None:
        return ""
    if key in ("zero_std_groups", "share_of_change"):
        return f"{value:.0%}"
    if key == "p95_seconds":
        return f"{value * 1e6:.0f} µs" if value < 1e-3 else f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def show_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[str] = (),
    text: str = "",
    bold: str = "",
    to_stderr: bool = False,
) -> None:
    """Print rows below their titles: figures, with names in the columns `left`, and one column of `text` that may wrap.

    Where a terminal is too narrow, columns of figures that are empty or 0 in every row are left out; where that is not
    enough, lines run on. The row that begins with `bold` is set so.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=to_stderr, highlight=False)
    if not console.is_terminal:
        # rich takes 80 for what is no terminal, and would cut
        console.width = _PIPE
    widths = [max(cell_len(cell) for cell in column) for column in zip(titles, *rows, strict=True)]
    widths = [min(width, _TEXT) if title == text else width for title, width in zip(titles, widths, strict=True)]
    kept = list(range(len(titles)))
    if _needed(widths, kept) > console.width:
        kept = [
            place
            for place in kept
            if titles[place] in (*left, text) or any(row[place] not in ("", "0") for row in rows)
        ]
    # wider than the terminal if need be: a line that runs on is ugly, a cut figure wrong
    console.width = max(console.width, _needed(widths, kept))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place in kept:
        title = titles[place]
        if title == text:
            table.add_column(title, overflow="fold")
        else:
            table.add_column(title, justify="left" if title in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(row[place]) for place in kept), style="bold" if bold and row[0] == bold else None)
    console.print(table)


def _needed(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[place] + _GAP for place in kept) - _GAP
