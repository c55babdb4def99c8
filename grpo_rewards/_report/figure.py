"""What a figure is, and how all of them write names, shares and colours."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

_HUES = 7  # as many as the page's style has: c0 to c6


@dataclass(frozen=True, slots=True)
class Figure:
    """Pictures with a caption, and the table that says the same in numbers."""

    key: str
    title: str
    pictures: tuple[Markup, ...]
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    layout: str = "single"
    legend: tuple[tuple[str, str], ...] = ()


def hue(position: int) -> str:
    """Return the colour class of the component at `position`; they repeat after seven."""
    return f"c{position % _HUES}"


def clipped(name: str, size: int) -> str:
    """Return a name short enough for its place in a picture; the table has it in full."""
    return name if len(name) <= size else name[: size - 1] + "…"


def percent(share: float) -> str:
    """Return a share in per cent, with a decimal where it is small."""
    value = 100 * share
    text = f"{value:.1f}" if 0 < abs(value) < 9.95 and round(value, 1) != round(value) else f"{value:.0f}"
    return ("0" if text in ("-0", "-0.0") else text).replace("-", "−") + " %"
