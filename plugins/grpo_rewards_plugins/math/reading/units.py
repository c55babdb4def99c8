"""Units of measure: every name and sign of one, what it is in base units, and how they multiply.

The one place that knows a unit. A `Unit` is a scale and a map of base units to exponents, so that units compare by algebra:
``J/(mol K)`` is ``kg m^2 s^-2 mol^-1 K^-1``. Prefixes keep their case (``MW`` is not ``mW``). Scales are exact; what has no exact
scale in the base units (calendar years, decibels, currencies) is a base unit of its own. A word that is no unit says what was
counted (``12 apples``) and is a base unit too.
"""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple


class Unit(NamedTuple):
    """`scale` base units, multiplied: `bases` are names with their exponents (none of them 0), in order of the names."""

    scale: Fraction
    bases: tuple[tuple[str, int], ...]

    def times(self, other: Unit, power: int = 1) -> Unit:
        """This unit times a power of another."""
        found = dict(self.bases)
        for name, exponent in other.bases:
            found[name] = found.get(name, 0) + power * exponent
        return Unit(self.scale * other.scale**power, tuple(sorted((n, e) for n, e in found.items() if e)))

    def reduced(self) -> Unit:
        """As part of a compound: radians are no unit there, and a difference of degrees Celsius is one of kelvins."""
        if len(self.bases) < 2 and self.bases not in ((("degC", -1),), (("rad", -1),)):
            return self
        found: dict[str, int] = {}
        for name, exponent in self.bases:
            if name != "rad":
                name = "K" if name == "degC" else name
                found[name] = found.get(name, 0) + exponent
        return Unit(self.scale, tuple(sorted((n, e) for n, e in found.items() if e)))

    def measured(self) -> Unit:
        """Without what was counted."""
        known = _base_names()
        return Unit(self.scale, tuple((name, exponent) for name, exponent in self.bases if name in known))

    def __str__(self) -> str:
        names = " ".join(name if exponent == 1 else f"{name}^{exponent}" for name, exponent in self.bases)
        return names if self.scale == 1 else f"{self.scale} {names}".strip()


NO_UNIT = Unit(Fraction(1), ())
PERCENT = Unit(Fraction(1), (("%", 1),))
DEGREE = Unit(Fraction(1), (("degree", 1),))
METER, SECOND = Unit(Fraction(1), (("m", 1),)), Unit(Fraction(1), (("s", 1),))
RADIAN = Unit(Fraction(1), (("rad", 1),))

SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Words for powers of ten that stand between a number and its unit."""

PERCENT_WORDS = frozenset(("percent", "pct", "percentage", "per cent", "percents", "%"))

SPELLED_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3, "squared": 2, "cubed": 3}
"""Words for the power of the unit behind them; the last two: of the unit before them."""

CURRENCY = {"\\$": "$", "$": "$", "€": "€", "£": "£", "¥": "¥", "₹": "₹", "\\pounds": "£", "\\euro": "€",
    "\\yen": "¥", "\\texteuro": "€", "\\textsterling": "£", "\\textdollar": "$", "CHF": "CHF", "CAD": "CAD", "AUD": "AUD"}  # fmt: skip
"""Signs of a currency and the unit that each is."""

CURRENCY_CODES = {
    "USD": "\\$", "US$": "\\$", "US\\$": "\\$", "EUR": "€", "GBP": "£", "INR": "₹", "Rs": "₹", "CNY": "¥", "RMB": "¥", "JPY": "¥", "CHF": "CHF", "CAD": "CAD", "AUD": "AUD",
}  # fmt: skip
"""Codes that stand before an amount as a sign does, and that sign."""

# Sign or signs | scale and base units | words. A star: the sign and the words take prefixes.
_TABLE = """
m*       | 1 m              | meter metre
g*       | 1/1000 kg        | gram gm
s* sec   | 1 s              | second
A*       | 1 A              | ampere amp
K*       | 1 K              | kelvin
mol*     | 1 mol            | mole
cd*      | 1 cd             | candela
Hz*      | 1 s-1            | hertz
N*       | 1 kg m s-2       | newton
Pa*      | 1 kg m-1 s-2     | pascal
J*       | 1 kg m2 s-2      | joule
W*       | 1 kg m2 s-3      | watt
C*       | 1 A s            | coulomb
V*       | 1 kg m2 s-3 A-1  | volt
F*       | 1 kg-1 m-2 s4 A2 | farad
Ω* ohm* Ohm* | 1 kg m2 s-3 A-2  | ohm
S*       | 1 kg-1 m-2 s3 A2 | siemens mho
Wb*      | 1 kg m2 s-2 A-1  | weber
T*       | 1 kg s-2 A-1     | tesla
H*       | 1 kg m2 s-2 A-2  | henry henrie
Bq*      | 1 s-1            | becquerel
Gy*      | 1 m2 s-2         | gray
Sv*      | 1 m2 s-2         | sievert
lm       | 1 cd             | lumen
lx       | 1 cd m-2         | lux
kat*     | 1 mol s-1        | katal
L* l*    | 1/1000 m3        | liter litre
M*       | 1000 mol m-3     | molar
eV*      | 1602176634/10000000000000000000000000000 kg m2 s-2 | electronvolt
cal*     | 523/125 kg m2 s-2 | calorie
Cal      | 4184 kg m2 s-2   |
Wh*      | 3600 kg m2 s-2   | watthour
bar*     | 100000 kg m-1 s-2 |
atm      | 101325 kg m-1 s-2 | atmosphere
Torr torr mmHg | 20265/152 kg m-1 s-2 |
psi      | 8896443230521/1290320000 kg m-1 s-2 |
dyn      | 1/100000 kg m s-2 | dyne
erg      | 1/10000000 kg m2 s-2 |
G*       | 1/10000 kg s-2 A-1 | gauss
P        | 1/10 kg m-1 s-1  | poise
cP       | 1/1000 kg m-1 s-1 | centipoise
Å        | 1/10000000000 m  | angstrom ångström
u amu Da | 1 u              | dalton
kDa      | 1000 u           | kilodalton
D        | 1 debye          | debye
min      | 60 s             | minute
h hr     | 3600 s           | hour
d        | 86400 s          | day
wk       | 604800 s         | week
mo       | 1/12 year        | month
y yr     | 1 year           | year
decade   | 10 year          | decade
century  | 100 year         | century centurie
Myr      | 1000000 year     |
Gyr      | 1000000000 year  |
in       | 127/5000 m       | inch inche
ft       | 381/1250 m       | foot feet
yd       | 1143/1250 m      | yard
mi       | 201168/125 m     | mile
nmi      | 1852 m           |
ly       | 9460730472580800 m | lightyear
AU au    | 149597870700 m   |
pc*      | 1 parsec         | parsec
ha       | 10000 m2         | hectare
acre     | 316160658/78125 m2 | acre
gal      | 473176473/125000000000 m3 | gallon
qt       | 473176473/500000000000 m3 | quart
pt       | 473176473/1000000000000 m3 | pint
cup      | 473176473/2000000000000 m3 | cup
tbsp     | 473176473/32000000000000 m3 | tablespoon
tsp      | 157725491/32000000000000 m3 | teaspoon
floz     | 473176473/16000000000000 m3 | fluidounce
cc       | 1/1000000 m3     |
lb lbs   | 45359237/100000000 kg | pound
oz       | 45359237/1600000000 kg | ounce
t        | 1000 kg          | ton tonne
kilo     | 1 kg             | kilo
lbf      | 8896443230521/2000000000000 kg m s-2 |
mpg      | 48000000000/112903 m-2 |
bpm      | 1/60 beat s-1 |
slug     | 1 slug           | slug
mph      | 1397/3125 m s-1  |
kmh kmph kph | 5/18 m s-1   |
kn       | 463/900 m s-1    | knot
hp       | 1 hp             | horsepower
BTU Btu  | 1 Btu            |
rev      | 1 rev            | revolution turn
rpm      | 1/60 rev s-1     |
rad*     | 1 rad            | radian
sr       | 1 rad            | steradian
deg      | 1 degree         | degree
arcmin   | 1/60 degree      | arcminute arcmin
arcsec   | 1/3600 degree    | arcsecond arcsec
degC     | 1 degC           | celsius centigrade
degF     | 1 degF           | fahrenheit
dB       | 1 dB             | decibel
mag      | 1 mag            | magnitude
B byte*  | 1 byte           | byte
kB       | 1000 byte        | kilobyte
MB       | 1000000 byte     |
GB       | 1000000000 byte  |
bit*     | 1 bit            | bit
bps*     | 1 bit s-1        |
unit     | 1 unit           | unit
ppm      | 1 ppm            |
ppb      | 1/1000 ppm       |
micron   | 1/1000000 m      | micron
dozen    | 12 -             | dozen
$        | 1 $              | dollar usd buck us$
cent ¢   | 1/100 $          | cent
€        | 1 €              | euro eur
£        | 1 £              | gbp sterling
¥        | 1 ¥              | yen yuan rmb cny jpy
₹        | 1 ₹              | rupee rs inr
CHF      | 1 CHF            | chf franc
CAD      | 1 CAD            | cad
AUD      | 1 AUD            | aud
"""
_PREFIXES = {
    "Q": 30, "R": 27, "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1, "d": -1, "c": -2,
    "m": -3, "μ": -6, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18, "z": -21, "y": -24,
}  # fmt: skip
_PREFIX_WORDS = {
    "peta": 15, "tera": 12, "giga": 9, "mega": 6, "kilo": 3, "hecto": 2, "deca": 1, "deci": -1, "centi": -2, "milli": -3,
    "micro": -6, "nano": -9, "pico": -12, "femto": -15,
}  # fmt: skip
# spellings of textbooks and models whose case or plural the rules would read otherwise, or not at all
_ALSO = {"cms": "cm", "kms": "km", "mms": "mm", "kgs": "kg", "gms": "g", "mLs": "mL", "secs": "s", "mins": "min", "hrs": "h", "yrs": "y",
         "yds": "yd", "pts": "pt", "kmhr": "kmh", "ins": "in", "SEC": "s", "MIN": "min", "HR": "h", "KM": "km", "CM": "cm", "KG": "kg",
         "Kg": "kg", "KW": "kW", "Km": "km", "Cm": "cm", "Amps": "A", "hz": "Hz", "pa": "Pa", "ev": "eV", "Mins": "min", "KJ": "kJ", "kj": "kJ", "kPA": "kPa", "KPa": "kPa", "KPA": "kPa", "KHz": "kHz", "khz": "kHz", "Mhz": "MHz", "Ghz": "GHz", "Mev": "MeV", "KV": "kV", "kilohm": "kΩ", "kilohms": "kΩ", "megohm": "MΩ", "megohms": "MΩ"}  # fmt: skip


def _bases(text: str) -> tuple[tuple[str, int], ...]:
    out: list[tuple[str, int]] = []
    for part in text.split():
        name = part.rstrip("-0123456789")
        if name != "":
            out.append((name, int(part[len(name) :] or 1)))
    return tuple(sorted(out))


@cache
def _tables() -> tuple[dict[str, Unit], dict[str, Unit], dict[str, Unit], dict[str, Unit]]:
    """Signs, signs that take prefixes, words, words that take prefixes."""
    signs: dict[str, Unit] = {}
    prefixed: dict[str, Unit] = {}
    words: dict[str, Unit] = {}
    word_prefixed: dict[str, Unit] = {}
    for line in _TABLE.strip().splitlines():
        left, middle, right = (part.strip() for part in line.split("|"))
        scale, _, bases = middle.partition(" ")
        unit = Unit(Fraction(scale), () if bases == "-" else _bases(bases))
        for sign in left.split():
            signs[sign.rstrip("*")] = unit
            if sign.endswith("*"):
                prefixed[sign[:-1]] = unit
        for word in right.split():
            words[word] = unit
            if "*" in left:
                word_prefixed[word] = unit
    return signs, prefixed, words, word_prefixed


@cache
def _base_names() -> frozenset[str]:
    """The names of all base units of the table."""
    return frozenset(name for unit in _tables()[0].values() for name, _ in unit.bases) | {"%"}


# Signs that are words of English, or names of variables more often than a unit, where they do not stand upright.
_ONLY_UPRIGHT = frozenset(
    "in d u y t P B D a au u pt mo da at as pa ma am cup h l mA mas dd dm dt ds dA dV dT dL dN dF dB_ PA MA GA TA RA".split()
) | {"\u00e5"}

HAN_UNITS = {
    "平方千米": "km^2", "平方公里": "km^2", "平方米": "m^2", "平方分米": "dm^2", "平方厘米": "cm^2", "平方毫米": "mm^2", "立方米": "m^3",
    "立方分米": "dm^3", "立方厘米": "cm^3", "千米每小时": "km/h", "千米/时": "km/h", "千米/小时": "km/h", "米每秒": "m/s", "米/秒": "m/s",
    "千米": "km", "公里": "km", "分米": "dm", "厘米": "cm", "毫米": "mm", "米": "m", "毫升": "mL", "升": "L", "千克": "kg", "公斤": "kg",
    "毫克": "mg", "克": "g", "吨": "t", "小时": "h", "时": "h", "分钟": "min", "秒钟": "s", "秒": "s", "天": "d", "年": "y", "个月": "mo",
    "美元": "dollars", "欧元": "euros", "元": "yuan", "牛顿": "N", "牛": "N", "焦耳": "J", "焦": "J", "瓦": "W", "伏": "V", "安培": "A",
    "安": "A", "欧姆": "ohm", "摩尔": "mol", "帕": "Pa", "分": "points",
}  # fmt: skip
"""Chinese names of units, the longer ones first."""

COUNTERS = frozenset(
    "个 人 只 种 名 位 件 次 本 张 条 块 棵 辆 支 枝 朵 头 组 对 双 套 份 台 间 道 题 倍 箱 瓶 盒 袋 杯 页 根 颗 场 层 排 行 队 场次 岁".split()
)
"""Chinese words between a number and what is counted; they say nothing about the number."""


COUNTED = "#"
"""Stands before a word that is no unit but says what is counted, in an expression of units: ``photons/s``."""


@lru_cache(maxsize=4096)
def named_unit(word: str) -> Unit | None:
    """The unit of a sign or a word: ``kJ``, ``MPa``, ``meters``, ``Newton``; None for any other word."""
    if word[:1] == COUNTED:
        return counted(word[1:])
    word = word.rstrip(".")
    word = _ALSO.get(word, word)
    signs, prefixed, *_ = _tables()
    # before the prefixes: what has a sign of its own is meant by it
    if (found := signs.get(word)) is not None:
        return found
    for size in (1, 2):  # "da" has two letters
        if (power := _PREFIXES.get(word[:size])) is not None and (unit := prefixed.get(word[size:])) is not None:
            return Unit(unit.scale * Fraction(10) ** power, unit.bases)
    return _spelled(word.lower())


def _spelled(low: str) -> Unit | None:
    *_, words, prefixed = _tables()
    for name in (
        low,
        low[:-1] if low.endswith("s") and len(low) > 3 else "",
        low[:-2] if low.endswith("es") and len(low) > 4 else "",
    ):
        if name in words:
            return words[name]
        for prefix, power in _PREFIX_WORDS.items():
            if name.startswith(prefix) and (unit := prefixed.get(name[len(prefix) :])) is not None:
                return Unit(unit.scale * Fraction(10) ** power, unit.bases)
    return None


# Units that only come in small multiples: "kT" and "GM" are products of letters, "mT" and "nM" are not.
_ONLY_SMALL = frozenset("s K C F T S H M Wb Gy Sv kat".split())
_LARGE = frozenset("YZEPTGMkhd")


@lru_cache(maxsize=4096)
def is_unit_word(word: str) -> bool:
    """Is a bare run of letters after a number a unit rather than a product of variables?"""
    return (
        len(word) > 1
        and word not in _ONLY_UPRIGHT
        and word[0] not in "QR"
        and not (word[0] in _LARGE and word[1:] in _ONLY_SMALL)
        and named_unit(word) is not None
    )


def only_units(text: str) -> bool:
    """Could every run of letters in a text be a unit or a prefix?"""
    return all(
        word[0] == "\\"
        or word in ("k", "e", "per")
        or named_unit(word) is not None
        or (len(word) == 2 and word.isupper() and all(map(named_unit, word)))
        for word in _LETTERS.findall(text)
    )


_LETTERS = re.compile(r"\\[a-zA-Z]+|[a-zA-Z]+")


def counted(words: str) -> Unit:
    """What a word that is no unit counts: a base unit of its own, in the singular and in lower case."""
    kept = [_singular(word.strip(".,;()'")) for word in _AROUND_SLASH.sub("/", words.lower()).split()]
    kept = [word for at, word in enumerate(kept) if word and not (word in _FILLER and (at or word != "in"))]
    share = PERCENT if kept[:1] == ["percent"] else NO_UNIT  # "percent per year", "percent increase"
    name = " ".join(kept[share is PERCENT :])
    return share.times(Unit(Fraction(1), ((name, 1),))) if name else share


_AROUND_SLASH = re.compile(r"\s*/\s*")
_FILLER = frozenset("of the per a an in total approximately about different distinct possible".split())
_IRREGULAR = {
    "people": "person", "persons": "person", "children": "child", "feet": "foot", "men": "man", "women": "woman",
}  # fmt: skip


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
