"""Phrases that give an answer: "the answer is", "Answer:" and the like, and what of the text behind them is the answer.

An answer in words ("True", "Monday", "no solution") ends where its clause does: at a line's or a sentence's end, a comma, a
"because", a bracket, a dash, the end of its bold type. Words that only speak about an answer ("the answer is clear") are none.
"""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

from .assertion import asserted, hedged, taken_back
from .formulas import CHOICE_LEAD, PROSE, WINDOW, any_in, carries, joined, segments
from .statements import HAN, amounts, statement

_PHRASE = re.compile(
    r"(?:\b(?:(?:answer|respuesta|réponse|antwort|resposta|risposta|ответ)s?\b|(?:solution|result)s?\b(?=[^.:\n]{0,90}?\b(?:is|are)\b))"
    r"(?:\s+(?:to|for|of)\s(?:[^.\n:=$\\\"“”]{0,40}[\"“][^\"“”\n]{1,200}[\"”]|[^.\n:=$\\\"“”]{1,80}?)|,\s(?!I\b|perhaps\b|maybe\b|prob|poss)[^,.\n:=$\\\d]{1,40},)?"
    r"(?:\s*\*{0,2}\s*(?:is|are|es|est|ist|é|è|equals|lautet|(?:must|should|will|would|has to|(?:turns|works|comes) out to) be|comes (?:out )?to|(?:turns|works) out (?:as|at))\b(?:\s+(?:therefore|thus|simply|just|then|definitely|certainly|clearly|indeed|exactly|equal to))?"
    r"\s*:?|\x22?\s*\*{0,2}\s*(?:[:=→]|[-=]>)\s*\*{0,2}|(?<=^answer)\s[-–—]\s|(?<=^final answer)\s[-–—]\s|\*{0,2}[ \t]*\n(?!\s*[A-Za-z]+ing\b))|(?:choice|option)\s+is\b|^\s*A\s*:|(?:答案\s*(?:应?选|是|为|:|】)|最[终后]结果\s*(?:是|为|:)|[故应以此]选|,选(?=\s*[A-J])|^答\s*:|答え?は\s*(?!何|なに))\s*:?)\s*",
    re.IGNORECASE | re.MULTILINE,
)
_PHRASE_WORDS = (
    "answer",
    "solution",
    "result",
    "respuesta",
    "réponse",
    "antwort",
    "resposta",
    "risposta",
    "ответ",
    "答",
    "最终结果",
    "最后结果",
    "故选",
    "应选",
    "以选",
    "此选",
    ",选",
    "choice is",
    "option is",
)
_ASCII_WORDS = tuple(word for word in _PHRASE_WORDS if word.isascii())
_ANSWER = re.compile(
    r"\s*(?:answer|respuesta|réponse|antwort|resposta|risposta|ответ|答|[故应以此]选|A\s*:)", re.IGNORECASE
)
_ANY = re.compile(
    r"[Aa][NnSs]|ice is|ion is|[Ss][Oo]|[Rr][EeÉéIi]|[Оо]т|A\s*:|答|选|最"
)  # one of its words may begin here
_FEW = 40  # characters in which one search costs less than one for each word
_SHORT = re.compile(r"A\s*:")
_OTHER_OPTION = re.compile(r"^[ \t*]*[BC]:", re.MULTILINE)
_FULL_WIDTH = str.maketrans("：；，．。（）", ":;,.\n()")
_SENTENCE = re.compile(r"(?<![A-Z\d])\.(?=\s+[A-Z\\(]|\s*$)|(?<=\d)\.(?=\s|$)|[!?](?=\s|$)|\n")
_NOT = re.compile(r",?\s*(?:而不是|不是)|,?\s+(?:and\s+not|not|rather than|instead of)\b|\s*\((?:and\s+)?not\b")
_OPTION_HEAD = re.compile(r"(?:\(([A-J])\)|([A-J])[).])[*:. ]*")
_HEADING = re.compile(r"(?:^|\n)[ \t]*(?:#{1,6}|\*\*)[ \t]*(?:\d+\.[ \t]*)?(?:the\s)?(?:final\s)?\Z", re.IGNORECASE)
_EMPTY_BOX = re.compile(r"\\boxed\s*\{\s*\}")
_MOST_PHRASES = 24  # from the end, that may carry no answer before the search is given up

_KANA_END = re.compile(r"(?:で(?:す|ある)|と(?:なります|なる)|になります|だ)(?=[.!\s]|$)")  # "答えは17です"
_HAN_REASON = re.compile(r"【|因为|由于|理由|解析|所以|故|\((?=[^()]*[\u4e00-\u9fff])")
_TAIL = re.compile(
    r",?\s+(?:because|since|as|for the reason|due to|given that|weil|denn|car|parce que|porque|puisque|perché|потому что|так как)\s+(?=[a-zA-Z\d$\\(])|,\s+(?:which|who|where|i\.e\.,?|that is,?|so(?!\s\$?\d)|we|but|thus|hence|therefore)\s"
    r"|,\s+(?:[a-z]+|\d+)\s[a-z]+\s(?:after|before)\s.*$|,\s+or\s[^,]*\b(?:as an?|in) (?:decimals?|fractions?|percent\w*)(?: form)?$"
    r"|,\s+(?:the|an?|half|after|before|with|as)\s[^\d\\$=]*[a-z]{3,}[^\d\\$=]*$|(?<=[%\d])\s+of\s+(?:the|all|its|their)\s[^\d\\$=]*$"
)
_IN_BRACKETS = re.compile(
    r"(?<=\S) \((?:(or [^()\n]{1,40})\)(?=[.\s]*$)|(?!(?:mod|base|where|for|all|or|and)\b)[^()]*[a-z]{3,}[^()]*\)$)"
)
_LOWER = re.compile(r"[a-z]{2}")
# a sentence about the value, or a calculation with a unit behind it
_SAID_IN_WORDS = re.compile(
    r"(?!all\s)(?:[a-z]{2,}\s|[$€£]?[\d,.]+\s[a-z]+\s(?:[a-z]+\s)?(?:is|are|was|were|remain|have|has)\b|[a-zA-Z]{2,}\s(?:[^\\]*\s)?[a-z]{2,}\s|[\d$(][^=]*[-+*/×·][^=]*=[^=]*\d\s?[a-z]{3,})"
)
# What begins a solution, not an answer: "Answer: First, we compute", "A: Let's think step by step".
_SOLUTION = re.compile(
    r"[\s*:]*(?:First(?:ly)?,|Let(?:'s|’s|\sus)?\s|To\s(?!the\s)|Step\s\d|Given\s|Using\s|Consider\s|Note\s|Since\s|After\s|By\s[a-z]+ing\s|We\s|There\sare\s\d"
    r"|In\sorder\s|Looking\s|Here\s|Okay|Sure)"
)
_NOT_BUT = re.compile(r"[\s*:]*(?:not|neither)\s[^.\n]{1,60}?,?\s(?:but|rather)\s(?:rather\s)?")
_BULLET = re.compile(r"[-•*]\s+(?=[A-Za-z]{2})")
_THAT = re.compile(
    r"[\s*:]*(?:that\s+|(?=the\s|it\s))(?:(?:the(?:\s+[a-z]+){1,2}?|it|this)\s+(?=[a-z]+s\b)(?:(?:is|are|has)\s+)?|there\s+(?:is|are)\s+(?=(?:no|infinitely)\b))"
    r"(?=[a-z])|[\s*:]*(?:to(?:wards?)?\s+the\s+)(?=(?:left|right|north|south|east|west)\b)",
    re.IGNORECASE,
)
_OPTION = re.compile(r"[\s*]*(?:the\s+)?(?:correct\s+)?(?:option|choice|letter)\s+(?=\W{0,4}[A-J]\b)", re.IGNORECASE)
_CLOSERS = {"*": "*", '"': '"', "`": "`", "“": "”", "'": "'", "‘": "’", "_": "_", "[": "]"}
_RUN = re.compile(
    r"[\s*_\"'“‘`\[]*(?:(?:\$\s*)?\\(?:text|textbf|mathrm|mathbf)\{)?((?:(?:Mrs?|Ms|Dr|St|Prof)\.\s)?[^\W\d_]+(?:(?:['’] |[ '’-])[^\W\d_]+){0,24})"
)
_TURN = re.compile(
    r"(?:because|since|as|so|due|given|when|where|which|who|whose|for|but|if|by|while|based|with|on|at)\b",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"of\s+[a-z]{3,}\Z")
_DESCRIBED = re.compile(  # "the sum of the digits, 12", "the point (2,3)"
    r"[\s*:]*(?:the|an?)\s[a-z]+(?:(?:\s[a-z]+){0,3}(?:\s[A-Z]{1,3})?[,:]|(?:\s[a-z]+)?)\s(?:[A-Za-z]\s*=\s*)?[$\\]*\(?-?\d[^\s=<>]*(?:\s[a-z]+){0,2}[.!]?(?:\s*\n|\s*\Z|(?<=[.!])\s)",
    re.IGNORECASE,
)
_ARTICLES = frozenset(("the", "a", "an"))
VERDICTS = frozenset(("yes", "no", "true", "false"))
_CLAUSE_END = re.compile(
    r"\s*$|\s*\n|[*_\"'”’`}$]*\s*(?:[.!?;](?:\s|$|[*\"'”])|\n|$)|[*_\"'”’`}]*\s+[(\[{—–-]|[*_\"'”’`}]*[—(\[](?=[a-zA-Z ])|[*\"”`}]+[\s.,;]"
)
_MOST_WORDS = 6
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?[ .\n]*")
_LISTED = re.compile(
    r"[^\W\d_]+(?: [^\W\d_]+)?(?:(?:,|,? and|,? or) [^\W\d_]+(?: [^\W\d_]+)?){1,7}|[A-Z][a-z]+day, [A-Z][a-z]+ \d{1,2}"
)

# words that only speak about an answer
_ABOUT_AN_ANSWER = frozenset(
    "mistaken clear correct incorrect reasonable obvious obviously right wrong unique simple below above found given known consistent verified "
    "confirmed complete approximately about roughly exactly simply just therefore thus hence then now still also equal equivalent the "
    "that this these those what which in at on to of as it its we our follows expressed written called denoted "
    "obtained based correctly indeed usually probably likely possibly perhaps maybe between at least most more less "
    "sin cos tan log ln exp sqrt pi max min gcd lcm mod either following same".split()
)


def phrase(text: str, *, after_box: bool = False) -> tuple[int, str] | None:
    """Place and text of the last phrase that gives an answer; place 0 and no text where the last sentence has one that asserts nothing.

    Behind a box only the word "answer" counts, not "the solutions are", and only where nothing but the answer follows it.
    """
    if len(text) < _FEW and _ANY.search(text) is None:
        return None
    tail = max(0, len(text) - WINDOW)
    window = text[tail:]
    if not window.isascii():
        window = window.translate(_FULL_WIDTH)
    refused = False
    last: tuple[re.Match[str], str] | None = None
    for match in islice(_phrases(window), _MOST_PHRASES):
        rest = window[match.end() : match.end() + 2_000]
        if "\\boxed" in rest[:400] and _EMPTY_BOX.search(rest[:400]) is None:
            continue  # the box is a mark of its own
        if after_box and _ANSWER.match(match[0]) is None:
            continue
        if not asserted(window, match.start()) or taken_back(rest):
            refused = refused or _SENTENCE.search(rest.rstrip(" .!?\n")) is None
            continue
        found = _json_value(rest) if _KEY.search(match[0]) is not None else None
        found = found or _answer(rest, words=_ANSWER.match(match[0]) is not None)
        if match[0].endswith("\n") and _is_heading(match[0]):
            before, line = window[max(0, match.start() - 24) : match.start()], rest.lstrip()
            line = (
                line[: formula[0][1]] if (formula := segments(line)) and not formula[0][0] else line.partition("\n")[0]
            )
            if (
                not found
                or _HEADING.search(before) is None
                or not (_is_all(found, line) or _OPTION_HEAD.match(line.lstrip("* ")))
            ):
                continue
        if last is not None:
            beside = found and found != last[1] and _beside(window, match, found, last[0])
            return tail + last[0].start(), f"{found} or {last[1]}" if beside else last[1]
        if found and not (after_box and not _is_all(found, rest)):
            last = match, found
    if last is not None:
        return tail + last[0].start(), last[1]
    return (0, "") if refused else None


_ITEM = re.compile(
    r"[ \t*#>-]*(Step|Option|Case|Method|Approach|Attempt|Alternative|Possibility)\s?#?(?:\d{1,2}|[A-Z])\b"
)
_CLOSE = 80  # characters between two phrases that are one statement


def _beside(window: str, first: re.Match[str], found: str, second: re.Match[str]) -> bool:
    """Do two phrases state two answers, none of which is the last word: in sentences side by side, or one for each step or option?"""
    between = window[first.end() : second.start()]
    if (
        first[0] == second[0]
        and len(between) < _CLOSE
        and between.startswith(found)
        and _SIDE_BY_SIDE.fullmatch(between, len(found))
    ):
        return True
    lines = [window.rfind("\n", 0, match.start()) + 1 for match in (first, second)]
    labels = [_ITEM.match(window, line) for line in lines]
    return lines[0] != lines[1] and labels[0] is not None and labels[1] is not None and labels[0][1] == labels[1][1]


_SIDE_BY_SIDE = re.compile(r"[.$*)\s]*(?:The )?")


_KEY = re.compile(r"\"\s*:\s*\Z")
_READER = json.JSONDecoder(parse_int=str, parse_float=str)


def _json_value(rest: str) -> str | None:
    """The number or text that follows the key of a JSON object: ``{"answer": 9, "steps": 2}``."""
    try:
        value, end = _READER.raw_decode(rest)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) and rest[end:].lstrip()[:1] in (",", "}") else None


def line_after_phrase(text: str) -> str | None:
    """What stands behind the last phrase, up to the end of its line: for a reward that reads choices by rules of its own."""
    window = text[-WINDOW:].translate(_FULL_WIDTH)
    match = next(_phrases(window), None)
    if match is None:
        return None
    rest = window[match.end() :][:2_000]
    return (_KEY.search(match[0]) and _json_value(rest)) or rest.lstrip().partition("\n")[0]


def _answer(rest: str, *, words: bool) -> str | None:
    """The answer at the head of what follows a phrase: a word with a clear end, a formula, a choice letter, a sentence."""
    if _PLAIN.fullmatch(rest):  # as most answers are
        return rest.rstrip(" .\n")
    if not rest.isascii() and (reason := _HAN_REASON.search(rest)) is not None and reason.start():
        rest = rest[: reason.start()].rstrip(" ,;\n")
    if not rest.isascii() and (verb := _KANA_END.search(rest)) is not None and "\n" not in rest[: verb.start()]:
        rest = rest[: verb.start()].rstrip()
    if (bullet := _BULLET.match(rest)) is not None:
        rest = rest[bullet.end() :]
    if (option := _OPTION.match(rest)) is not None:
        rest = rest[option.end() :]
    if _SOLUTION.match(rest) is not None:
        return None
    if (denied := _NOT_BUT.match(rest)) is not None:
        rest = rest[denied.end() :]
    if (
        rest[:1] not in _NUMERIC and (several := _CHOICES.match(rest)) is not None
    ):  # one answer, which equals none of them
        return several[1]
    if words and (word := _word(rest)) is not None:
        return word
    found = _sentence(rest)
    if " " in found and (found.startswith("all ") or _LOWER.match(found) is None):
        found = _IN_BRACKETS.sub(lambda match: f" {match[1]}" if match[1] else "", found)
        if carries(head := _TAIL.split(found, maxsplit=1)[0]):
            found = head
    if not found or not (carries(found) or _FORMULA.match(rest)):
        return None
    if _SAID_IN_WORDS.match(found) is not None:
        return _stated(found)
    return found if HAN.search(found) is None else amounts(found) or found


_FORMULA = re.compile(r"[\s*:]*(?:\$|\\[(\[])")  # "$mgh$": a formula, whatever is in it


def _stated(sentence: str) -> str | None:
    """The value that a sentence with words comes to, read as one without a mark is: "the sum of the digits, which is 12", "7 * 4 = 28 cups"."""
    said = statement(sentence if HAN.search(sentence) is not None else f"So {sentence}.")
    if said.value and hedged(sentence, sentence.rfind(said.value), said.value) is not None:
        return sentence  # "even integers greater than 2"
    return said.value or (None if said.doubted or len(sentence) >= _LONGEST_ANSWER else sentence)


_LONGEST_ANSWER = 60


def _word(rest: str) -> str | None:
    """An answer in words, up to the end of its clause."""
    if _DESCRIBED.match(rest) is not None:
        return None
    if (opening := _THAT.match(rest)) is not None:
        rest = rest[opening.end() :]
    match = _RUN.match(rest)
    if match is None:
        return None
    run, after = match[1].split(), rest[match.end() :]
    turn = next((at for at, word in enumerate(run) if at and _TURN.fullmatch(word)), None)
    closer = _CLOSERS.get(match[0][: match.start(1) - match.start()].strip()[-1:], "\0")
    if len(run) == 1 and len(run[0]) == 1 and after.startswith(closer) and run[0] in "ABCDEFGHIJ":
        return run[0]
    if turn is not None:
        run = run[:turn]
        while run and run[-1].lower() in _IN_A_SENTENCE:  # "cannot be determined from the given data"
            run.pop()
    elif not after.startswith(closer):
        head, comma, clause = after.lstrip("*_\"'”’`}").partition(",")
        if comma and not head:
            if (listed := _listed(rest, run, clause.lstrip())) is not None:
                return listed or None
        elif not after.lstrip("*_ ").startswith(":") and not _CLAUSE_END.match(after):
            if _ATTRIBUTE.search(match[1]) is None:
                return None
            run = run[:-2]  # "a circle of radius 3"
    return _accepted(run)


def _listed(rest: str, run: list[str], clause: str) -> str | None:
    """Of words before a comma: all of a list ("Paris, France"); "" where they are no answer; None where they are one alone."""
    first = clause.partition(" ")[0].lower()
    if run[0].lower() in VERDICTS or first in _IN_A_SENTENCE or _TURN.fullmatch(first) is not None:
        return None
    listed = _sentence(rest)
    if _LISTED.fullmatch(listed):
        return listed if run[0].lower() not in _ABOUT_AN_ANSWER else ""
    return None if len(run) <= _MOST_WORDS // 2 else ""


_FEW_WORDS = 3


def _accepted(run: list[str]) -> str | None:
    """The words of a clause, where they are an answer."""
    low = [word.lower() for word in run]
    if low[:1] == ["the"] and len(low) == _FEW_WORDS + 1 and low[2] in ("is", "are"):
        run, low = run[3:], low[3:]  # "the lines are skew"
    if low and low[0] == "the":
        if len(run) > _FEW_WORDS or "of" in low or low[1:2] == [] or low[1] in _ABOUT_AN_ANSWER:
            return None
        run, low = run[1:], low[1:]
    if not run or low[0] in _ABOUT_AN_ANSWER or (len(run) > _MOST_WORDS and not _IN_A_SENTENCE.isdisjoint(low)):
        return None
    if low[0] == "not" and (len(low) < 2 or low[1] in _ABOUT_AN_ANSWER or low[1] in _ARTICLES):
        return None
    if _LABELLED.fullmatch(" ".join(run)):
        return " ".join(run)  # "Plan B"
    if any(len(word) == 1 and word.isascii() and word not in ("a", "I") for word in run):
        return None  # a product of letters, a choice
    return " ".join(run) if len(run) > 1 or len(run[0]) > 1 or not run[0].isascii() else None


# what a list of words has none of, however long it is
_IN_A_SENTENCE = frozenset(
    "the a an is are was were be been has have had of in on at to by for with from and or not that this it its we you they he she".split()
)
_LABELLED = re.compile(r"[A-Z][a-z]{2,} [A-Z]")


def _is_heading(phrase: str) -> bool:
    """Is a phrase the word alone on its line, without "is" or a colon?"""
    return _VERB.search(phrase) is None


_VERB = re.compile(r"[:=是为选]|\b(?:is|are|es|est|ist|é|è|equals|be)\b", re.IGNORECASE)


def _is_all(found: str, rest: str) -> bool:
    """Is an answer all that follows its phrase, but for typesetting and a word or two of a unit?"""
    if len(PROSE.findall(found)) > _MOST_WORDS // 2:
        return False
    plain = _TYPESETTING.sub("", found)
    whole = _TYPESETTING.sub("", rest)
    left = whole[len(plain) :] if whole.startswith(plain) else None
    return left is not None and len(left) <= 24 and not any(c.isdigit() for c in left)


_TYPESETTING = re.compile(r"[\s$*.\"'`]+|\\[()\[\]]")


def _phrases(window: str) -> Iterator[re.Match[str]]:
    """Matches of the phrase, the last one first: its words are looked for as plain text, which is much faster."""
    low = window.lower()
    if len(low) != len(window):  # a letter whose lower case is longer moves all places
        yield from reversed(list(_PHRASE.finditer(window)))
        return
    for place in sorted([*_words(low), *_short(window)], reverse=True):
        match = _PHRASE.match(window, place)
        if match is not None:
            yield match


def _words(low: str) -> list[int]:
    """Where a phrase may begin with one of its words, in text of lower case."""
    places: list[int] = []
    for word in _ASCII_WORDS if low.isascii() else _PHRASE_WORDS:
        at = low.find(word)
        while at >= 0:
            places.append(at)
            at = low.find(word, at + 1)
    return places


def _short(window: str) -> list[int]:
    """Where a line may begin with ``A:``."""
    places: list[int] = []
    at = window.find("A")
    while at >= 0:
        if _SHORT.match(window, at):
            start = at
            while start and window[start - 1] in " \t":
                start -= 1
            places.append(start)
        at = window.find("A", at + 1)
    if places and any_in(("B:", "C:"), window) and _OTHER_OPTION.search(window) is not None:
        return []  # "A:" is one of the options, each on its line
    return places


_EXPLAINED_CHOICE = re.compile(r"([A-J])\s\((?=[^()]*(?:[a-z]{2}|[a-z]/[a-z]))[^(),\n]{2,80}\)[^\w\n]*(?:\n|$)")
_NUMERIC = frozenset("0123456789-$\\")  # what begins most answers, and no letters of options
_CHOICES = re.compile(
    r"[\s*]*(?:(?:both|either) )?(\(?[A-Z]\)?(?:(?:, ?(?:and |or )?|,? (?:and|or|&) )(?:\([A-Z]\)|(?:[A-HJ](?![\w'’])|I(?= (?:and|or)\b|\W*$))\)?))+"
    r"|\([A-Z]\) [^\n.;,()]{1,40},? or \([A-Z]\)(?: [^\n.;,()]{1,40})?)"  # "(A) 5 or (B) 6"
)


def _sentence(rest: str) -> str:
    """The answer at the head of what follows the phrase."""
    rest = rest.lstrip(" \t\n*:`,")
    found = joined(rest, segments(rest[:2_000]))
    if found:
        start, _, content = found[0]
        head = rest[:start].strip(" *")
        if (option := _OPTION_HEAD.fullmatch(head)) is not None:
            return f"({option[1] or option[2]}) {content.strip()}"
        named = head and len(content) == 1  # "the largest $n$ is 34"
        if not named and len(head) <= 40 and "\n" not in head and not re.search(r"[.\d]", head):
            return content.strip()
    choice = CHOICE_LEAD.match(rest)
    if (explained := _EXPLAINED_CHOICE.match(rest)) is not None:
        return explained[1]
    if choice and not re.match(r"[\s*(\[$]*[A-J][.:,]\d", rest):
        return next(group for group in choice.groups() if group)
    end_of = _SENTENCE.search(rest)
    found_text = (rest[: end_of.start()] if end_of else rest).rstrip("✅✓✔☑🎉 ").strip(" *\"'`“”‘’")
    if found_text[:1] == "_" == found_text[-1:]:
        found_text = found_text[1:-1]
    if "**" in found_text:  # "**Answer: 16** square units"
        found_text = found_text.replace("**", "")
    denied = _NOT.search(found_text)
    return found_text[: denied.start()] if denied and denied.start() else found_text
