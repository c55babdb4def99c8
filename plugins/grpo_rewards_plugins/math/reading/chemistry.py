"""Chemical formulas: ``H_2SO_4``, ``\\mathrm{H_2SO_4}``, ``\\text{H}_2\\text{SO}_4`` and ``H2SO4`` are one."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from collections import Counter

_ELEMENTS = (  # in the order of their numbers
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh "
    "Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra "
    "Ac Th Pa U Np Pu Am Cm".split()
)
_NUMBERS = {symbol: at for at, symbol in enumerate(_ELEMENTS, 1)}
_FONTS = r"\\(?:text(?:rm|bf)?|math(?:rm|bf|sf)|mbox|rm|ce|left|right|(?:up|down)arrow|[,;:! ])(?![a-zA-Z])|[\s{}~$]"
_FONT = re.compile(_FONTS)
_TYPESETTING = re.compile(rf"{_FONTS}|_|\((?:s|l|g|aq)\)")
_WITH_WATER = re.compile(r"(?<=[\dA-Za-z)}])\s*(?:\\cdot(?![a-z])|[.*])\s*(?=\d{0,2}\s*(?:\\[a-z]{2,6}\s*\{)?\s*[A-Z])")
_FORMULA = re.compile(
    r"(?:(?:<[\d|-]{1,9}>)?[A-Z][a-z]?\d{0,3}|[(\[]|[)\]]\d{0,3}|\*\d{0,2})+(?:\^?\d?[+-])?|<[\d|-]{1,9}>[nepα]|e\^?-"
)
_ISOTOPE = re.compile(
    r"(?:\^(?P<mass>\d{1,3})(?:_(?P<number>-?\d{1,3}))?|_(?P<below>-?\d{1,3})\^(?P<above>\d{1,3}))(?P<symbol>[A-Z][a-z]?|[nep](?![a-z]))"
)
_ATOM = re.compile(r"[A-Z][a-z]?")
_LONGEST = 120
_WORDS = frozenset(("no", "in", "as", "i", "he", "at", "be"))


def _plain(text: str) -> str:
    """A formula or a reaction without typesetting, the numbers of an isotope before its symbol (``<14>C``) and water behind a star."""
    text = _WITH_WATER.sub("*", text)
    if "^" not in text:
        return _TYPESETTING.sub("", text)
    return _TYPESETTING.sub("", _ISOTOPE.sub(_numbered, _FONT.sub("", text)))


def _numbered(match: re.Match[str]) -> str:
    mass, number, symbol = match["mass"] or match["above"], match["number"] or match["below"], match["symbol"]
    known = number is None or number == str(_NUMBERS.get(symbol))
    return f"<{mass}>{symbol}" if known else f"<{mass}|{number}>{symbol}"


def _formula(text: str) -> str | None:
    """One spelling of a chemical formula; None for anything else."""
    if len(text) > _LONGEST or "=" in text:
        return None
    plain = _plain(text)
    if _FORMULA.fullmatch(plain) is None:
        return None
    return plain.replace("^", "") if all(atom in _NUMBERS for atom in _ATOM.findall(plain)) else None


def is_formula(text: str) -> bool:
    """Is a word a chemical formula of two atoms or more?"""
    found = _formula(text)
    return found is not None and (len(_ATOM.findall(found)) > 1 or any(char.isdigit() for char in found))


def concentrations(text: str) -> str:
    """``[NH_3]`` as one letter, with what it is of below its line."""
    return _CONCENTRATION.sub(lambda m: _letter_of(m[1]) or m[0], text)


def _letter_of(text: str) -> str | None:
    found = _formula(text)
    if found is None or not (found[-1] in "+-" or is_formula(text)):
        return None
    return f" c_{{\\text{{{_SIGNS.sub(lambda m: _SAID[m[0]], found)}}}}} "


_CONCENTRATION = re.compile(r"\[((?:[\w\s^(){}+~-]|\\(?:text|math)(?:rm)?(?![a-z])|\\ce(?![a-z])){1,40})\]")
_UPRIGHT = re.compile(r"\\(?:text|mathrm|ce)(?![a-z])")
_SIGNS = re.compile(r"[-+<>|*()\[\]]")
_SAID = dict(zip("-+<>|*()[]", ("neg", "pos", *"abcdefgh"), strict=True))


def is_reaction(text: str) -> bool:
    """Is it one, with an arrow, or with an equals sign among sums of upright formulas?"""
    if _ARROW.search(text) is not None or _BACKWARDS.search(text) is not None:
        return _reaction(text) is not None
    if _UPRIGHT.search(text) is None or "=" not in text or "+" not in text or (sides := _reaction(text)) is None:
        return False
    return sum(map(len, sides)) > 2 and any(is_formula(said.partition(" ")[2]) for side in sides for said in side)


def _reaction(text: str) -> tuple[Counter[str], ...] | None:
    """Both sides of a reaction, each with its formulas and how many of each; None for anything else."""
    if len(text) > 2 * _LONGEST:
        return None
    sides = _ARROW.split(text) if _BACKWARDS.search(text) is None else _BACKWARDS.split(text)[::-1]
    sides = text.split("=") if len(sides) == 1 else sides
    out = []
    for side in sides:
        parts = _PLUS.split(_plain(side))
        matches = [_COUNTED.fullmatch(part) for part in parts]
        formulas = [None if match is None else _formula(match[2]) for match in matches]
        if None in formulas:
            return None
        out.append(Counter(f"{match[1]} {formula}" for match, formula in zip(matches, formulas, strict=True) if match))
    return tuple(out) if len(out) == 2 else None


def _shells(text: str) -> tuple[str, list[str]] | None:
    """Core and subshells of an electron configuration (``[Ar] 3d^5 4s^1``), in any order, or a hybrid orbital (``sp^3``)."""
    if len(text) > _LONGEST or _MAY_BE_SHELLS.search(text) is None:
        return None
    plain = _TYPESETTING.sub("", _HYBRIDIZED.sub("", text))
    if _HYBRID.fullmatch(plain) is not None:
        return plain.replace("^", ""), []
    match = _CONFIGURATION.fullmatch(plain)
    if match is None:
        return None
    shells = [*_CORES.get(match[1], "").split(), *(shell.replace("^", "") for shell in _SHELL.findall(match[2]))]
    return "" if match[1] in _CORES else match[1], sorted(shells)


_MAY_BE_SHELLS = re.compile(r"\[|sp|1\s?(?:\\(?:mathrm|text)\s?\{\s?~?)?\s?s")
_HELIUM = "1s2"
_NEON = f"{_HELIUM} 2s2 2p6"
_ARGON = f"{_NEON} 3s2 3p6"
_KRYPTON = f"{_ARGON} 3d10 4s2 4p6"
_CORES = {"[He]": _HELIUM, "[Ne]": _NEON, "[Ar]": _ARGON, "[Kr]": _KRYPTON, "[Xe]": f"{_KRYPTON} 4d10 5s2 5p6"}
_HYBRIDIZED = re.compile(r"[\s{-]*hybridi[sz](?:ed|ation)[\s}]*$")
_HYBRID = re.compile(r"sp(?:\^?[23](?:d(?:\^?[23])?)?)?")
_CONFIGURATION = re.compile(r"(\[[A-Z][a-z]\]|)((?:\d[spdf]\^?\d{1,2})+)")
_SHELL = re.compile(r"\d[spdf]\^?(?:1[0-4]|\d)(?=\d[spdf]|$)")
_ARROW = re.compile(r"\\(?:to|(?:long)?rightarrow|rightleftharpoons)(?![a-z])|->|→")
_BACKWARDS = re.compile(r"\\(?:gets|(?:long)?leftarrow)(?![a-z])|<-(?!>)|←")
_PLUS = re.compile(r"\+(?=\d{0,3}(?:[A-Z(\[<]|e\^?-))")
_COUNTED = re.compile(r"(\d{0,3})(.+)")


# names that leave no doubt which substance is meant; of the elements that come in pairs also the symbol
_NAMED = {
    "water": "H2O", "carbon dioxide": "CO2", "carbon monoxide": "CO", "ammonia": "NH3", "methane": "CH4", "ethane": "C2H6", "propane": "C3H8",
    "butane": "C4H10", "ethene": "C2H4", "ethylene": "C2H4", "benzene": "C6H6", "ethanol": "C2H5OH", "methanol": "CH3OH", "glucose": "C6H12O6",
    "ozone": "O3", "sodium chloride": "NaCl", "sodium hydroxide": "NaOH", "potassium hydroxide": "KOH", "calcium carbonate": "CaCO3",
    "calcium oxide": "CaO", "calcium hydroxide": "Ca(OH)2", "sodium carbonate": "Na2CO3", "sulfuric acid": "H2SO4", "sulphuric acid": "H2SO4",
    "nitric acid": "HNO3", "hydrochloric acid": "HCl", "hydrogen chloride": "HCl", "phosphoric acid": "H3PO4", "acetic acid": "CH3COOH",
    "sulfur dioxide": "SO2", "sulfur trioxide": "SO3", "nitrogen dioxide": "NO2", "nitric oxide": "NO", "nitrous oxide": "N2O",
    "hydrogen peroxide": "H2O2", "hydrogen sulfide": "H2S", "silver nitrate": "AgNO3", "silver chloride": "AgCl", "barium sulfate": "BaSO4",
    "potassium permanganate": "KMnO4", "iron": "Fe", "copper": "Cu", "zinc": "Zn", "silver": "Ag", "gold": "Au", "lead": "Pb", "tin": "Sn",
    "sodium": "Na", "potassium": "K", "calcium": "Ca", "magnesium": "Mg", "aluminum": "Al", "aluminium": "Al", "carbon": "C", "silicon": "Si",
    "sulfur": "S", "helium": "He", "neon": "Ne", "argon": "Ar", "lithium": "Li", "mercury": "Hg", "nickel": "Ni", "platinum": "Pt",
    "hydrogen gas": "H2", "oxygen gas": "O2", "nitrogen gas": "N2", "chlorine gas": "Cl2",
}  # fmt: skip
_PAIRS = {
    "hydrogen": "H", "oxygen": "O", "nitrogen": "N", "fluorine": "F", "chlorine": "Cl", "bromine": "Br", "iodine": "I",
}  # fmt: skip


def _named(text: str) -> str | None:
    """A substance's name in lower case."""
    said = " ".join(_TYPESETTING_OF_NAMES.sub(" ", text).split()).lower()
    return said if said in _NAMED or said in _PAIRS else None


_TYPESETTING_OF_NAMES = re.compile(r"\\(?:text|mathrm|mbox)(?![a-zA-Z])|[{}$~]")
_LONGEST_NAME = 60


def _substance(one: str, other: str) -> bool | None:
    """A substance by its name on one side and by its formula on the other; None for any other two."""
    if len(one) > _LONGEST_NAME or len(other) > _LONGEST_NAME:
        return None
    names = _named(one), _named(other)
    if (names[0] is None) == (names[1] is None):
        return None
    name, formula = (names[0], _formula(other)) if names[0] is not None else (names[1], _formula(one))
    if name is None or formula is None:
        return None
    element = _PAIRS.get(name)
    return formula in (element, f"{element}2") if element is not None else formula == _NAMED[name]


def same_formula(gold: str, answer: str) -> bool | None:
    """Are two chemical formulas, or two reactions, one?  None where they may be something else, such as products of letters."""
    if (substance := _substance(gold, answer)) is not None:
        return substance
    if (shells := _shells(gold)) is not None and (theirs_too := _shells(answer)) is not None:
        return shells == theirs_too
    if is_reaction(gold) or ("=" in gold and is_reaction(answer)):
        mine, theirs = _reaction(gold), _reaction(answer)
        return None if mine is None or theirs is None else mine == theirs
    if not gold[:1].isalpha() and gold[:1] not in ("\\", "[", "{", "^", "_"):
        return None
    one = _formula(gold)
    other = None if one is None else _formula(answer)
    if one is None or other is None:
        return None
    if one != other and one.lower() == other.lower() and one.lower() not in _WORDS:
        return False  # carbon monoxide is no cobalt
    charged = one[-1] in "+-" or one[0] == "<"
    several = len(_ATOM.findall(one)) > 1 and any(char.isdigit() for char in one)
    meant = charged or several or "\\mathrm" in gold + answer or "\\ce" in gold + answer
    return one == other if meant else None
