"""The few strokes that the figures need, as SVG. Every text is escaped; colours are classes of the page's style."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup, escape


def _n(value: float) -> str:
    # hundredths of a pixel: the digits behind would be half of the page's figures
    return f"{value:.2f}".rstrip("0").rstrip(".")


def short(value: float | None, digits: int = 3) -> str:
    """Return a number for people: three significant digits, a real minus sign, a dash for None."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-4 <= abs(value) < 1e7:
        text = f"{value:.0f}"
    # a hyphen is shorter than a plus, and is broken at the end of a line
    return "0" if text == "-0" else text.replace("-", "−")


class Scale:
    """A linear map from data between `low` and `high` to pixels between `start` and `end`."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        # one value, or next to: a scale needs a width, and the value stands in its middle
        if high - low <= 1e-12 * max(1.0, abs(low)):
            pad = max(0.5, abs(low) * 0.1)
            low, high = low - pad, high + pad
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        # divided before it is subtracted, so that ends near the largest float give no NaN
        share = value / (self.high - self.low) - self.low / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about `count` round numbers between `low` and `high`."""
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    rough = span / max(count, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((size * m for m in (1, 2, 2.5, 5, 10) if size * m >= rough), size * 10)
    first = math.ceil(low / step - 1e-9)
    # a little beyond both ends, or rounding would lose a tick that stands on one
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def svg(width: float, height: float, title: str, parts: Iterable[Markup]) -> Markup:
    """Return one figure; `title` is what a screen reader says."""
    # Markup escapes whatever is joined or formatted into it: names of components and texts are not ours
    inside = Markup("").join(parts)
    head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="xMidYMid meet">')
    return head.format(_n(width), _n(height), title) + inside + Markup("</svg>")


def _tooltip(tip: str) -> Markup:
    return Markup("<title>{}</title>").format(tip) if tip else Markup("")


def rect(x: float, y: float, width: float, height: float, style: str, tip: str = "", *, opacity: float = 1) -> Markup:
    """Return a rectangle, with a tooltip if given."""
    faint = Markup(' fill-opacity="{}"').format(_n(opacity)) if opacity < 1 else Markup("")
    # less the gap to its neighbour a width may be negative, which SVG refuses
    box = map(_n, (x, y, max(0.0, width), max(0.0, height)))
    drawn = Markup('<rect x="{}" y="{}" width="{}" height="{}" class="{}"{}>{}</rect>')
    return drawn.format(*box, style, faint, _tooltip(tip))


def linked(drawn: Markup, where: str) -> Markup:
    """Return what is drawn as a link to a state of the page (``#...``)."""
    return Markup('<a href="{}">{}</a>').format(where, drawn) if where else drawn


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> Markup:
    """Return a straight line."""
    return Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>').format(_n(x1), _n(y1), _n(x2), _n(y2), style)


def level_lines(
    y: Scale, low: float, high: float, left: float, right: float, *, count: int, name: Callable[[float], str]
) -> list[Markup]:
    """Return about `count` horizontal lines at round values from `low` to `high`, each with its name at the left."""
    return [
        part
        for tick in ticks(low, high, count)
        for part in (line(left, y(tick), right, y(tick), "grid"), label(left - 6, y(tick) + 4, name(tick), "t e"))
    ]


def names_below(marks: Iterable[tuple[float, str]], y: float) -> list[Markup]:
    """Return the names of marks at their places on an axis, without those that would run into the one before."""
    parts: list[Markup] = []
    end = -math.inf
    for at, name in marks:
        half = 3.2 * len(name)  # of the width in the page's face, about
        if at - half > end + 3:
            parts.append(label(at, y, name, "t m"))
            end = at + half
    return parts


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def path(points: Sequence[tuple[float, float]], style: str) -> Markup:
    """Return a line through points."""
    return Markup('<polyline points="{}" class="{}"/>').format(_points(points), style)


def polygon(points: Sequence[tuple[float, float]], style: str, tip: str = "") -> Markup:
    """Return a filled outline, with a tooltip if given."""
    return Markup('<polygon points="{}" class="{}">{}</polygon>').format(_points(points), style, _tooltip(tip))


def circle(x: float, y: float, radius: float, style: str, tip: str = "") -> Markup:
    """Return a dot, with a tooltip if given."""
    drawn = Markup('<circle cx="{}" cy="{}" r="{}" class="{}">{}</circle>')
    return drawn.format(_n(x), _n(y), _n(radius), style, _tooltip(tip))


def label(x: float, y: float, text: str, style: str = "t", *, turn: float = 0) -> Markup:
    """Return a text, turned by `turn` degrees about its anchor."""
    turned = Markup(' transform="rotate({} {} {})"').format(_n(turn), _n(x), _n(y)) if turn else Markup("")
    return Markup('<text x="{}" y="{}" class="{}"{}>{}</text>').format(_n(x), _n(y), style, turned, escape(text))
