"""Units of measure by name: which spellings are one unit. Units are compared, never converted."""

from __future__ import annotations

import re

__all__ = ["CURRENCY", "PERCENT_WORDS", "SCALES", "UNIT_WORDS", "canonical_unit"]

SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Words for powers of ten that stand between a number and its unit."""

PERCENT_WORDS = frozenset(("percent", "pct", "percentage", "per cent", "percents", "%"))

CURRENCY = {"\\$": "$", "$": "$", "€": "€", "£": "£", "¥": "¥", "₹": "₹", "\\pounds": "£", "\\euro": "€",
    "\\yen": "¥", "\\texteuro": "€", "\\textsterling": "£", "\\textdollar": "$"}  # fmt: skip
"""Signs of a currency."""

_SPELLINGS = {
    "m": "meter meters metre metres", "cm": "centimeter centimeters centimetre centimetres cms",
    "mm": "millimeter millimeters millimetre millimetres", "km": "kilometer kilometers kilometre kilometres kms",
    "nm": "nanometer nanometers", "um": "micrometer micrometers micron microns",
    "in": "inch inches ins", "ft": "foot feet", "yd": "yard yards yds", "mi": "mile miles",
    "g": "gram grams gm gms", "kg": "kilogram kilograms kgs kilo kilos", "mg": "milligram milligrams", "lb": "pound pounds lbs",
    "oz": "ounce ounces", "ton": "tons tonne tonnes", "s": "second seconds sec secs", "min": "minute minutes mins",
    "h": "hour hours hr hrs", "day": "days", "week": "weeks", "month": "months", "year": "years yr yrs",
    "ms": "millisecond milliseconds", "L": "liter liters litre litres l", "mL": "milliliter milliliters millilitre ml",
    "gal": "gallon gallons", "qt": "quart quarts", "pt": "pints pint", "J": "joule joules", "N": "newton newtons",
    "W": "watt watts", "kW": "kilowatt kilowatts", "V": "volt volts", "A": "ampere amperes amp amps", "Hz": "hertz",
    "Pa": "pascal pascals", "K": "kelvin kelvins", "mol": "mole moles", "eV": "electronvolt electronvolts", "ha": "hectare hectares",
    "$": "dollar dollars usd bucks us$", "cent": "cents ¢", "€": "euro euros eur", "£": "gbp sterling", "¥": "yen yuan rmb",
    "₹": "rupee rupees rs inr", "rad": "radian radians", "degree": "degrees deg", "degC": "celsius",
    "degF": "fahrenheit", "mph": "mi/h", "unit": "units", "person": "people persons", "child": "children", "sq": "square",
    "cu": "cubic", "kJ": "kilojoule kilojoules", "cal": "calorie calories", "kPa": "kilopascal", "km/h": "kmh kph kmph",
}  # fmt: skip
_CANON = {word: name for name, words in _SPELLINGS.items() for word in (name, *words.split())}
# Bare words after a number that are units rather than products of letters.
UNIT_WORDS = frozenset(w for w in _CANON if len(w) > 1 and w.isalpha() and w not in ("ins", "sq", "cu", "pt"))

_INVERSE = re.compile(r"[\s,\\]*\b([A-Za-z]+)\s*\^\s*-\s*([1-9])")
_CLEAN = re.compile(r"[\s~{}\\]+|\\,|\(s\)")
_SPLIT = re.compile(r"([/^*])")
_POWERS = {"square": "^2", "sq": "^2", "cubic": "^3", "cu": "^3", "squared": "^2", "cubed": "^3"}
_FILLER = frozenset(("of", "the", "per", "a", "an", "in", "total", "approximately", "about"))


def _one(word: str) -> str:
    if word in _CANON:
        return _CANON[word]
    low = word.lower().rstrip(".")
    if low in _CANON:
        return _CANON[low]
    if len(low) > 3 and low.endswith("ies"):
        return low[:-3] + "y"
    return low[:-1] if len(low) > 3 and low.endswith("s") and not low.endswith("ss") else low


def canonical_unit(text: str) -> str:
    """One spelling for one unit: ``square centimeters``, ``cm²`` and ``sq. cm`` are ``cm^2``; unknown words stay, singular."""
    text = text.replace(" per ", "/").replace("\\cdot", "*")
    text = _INVERSE.sub(lambda m: f"/{m[1]}" + (f"^{m[2]}" if m[2] != "1" else ""), text).strip(" .,;/")
    out: list[str] = []
    pending = ""
    for piece in _SPLIT.split(text):
        if piece in ("/", "^", "*"):
            out.append(piece)
            continue
        for word in _CLEAN.sub(" ", piece).split():
            word = word.strip(".,;()")
            if not word:
                continue
            low = word.lower()
            if low in ("squared", "cubed"):
                out.append(_POWERS[low])
            elif low in _POWERS:
                pending = _POWERS[low]
            elif low in _FILLER and (out or low not in ("in",)):
                continue
            else:
                if out and out[-1] not in ("/", "^", "*"):
                    out.append(" ")
                out.append(_one(word) + pending)
                pending = ""
    joined = "".join(out).strip("/^* ")
    return _CANON.get(joined, joined)
