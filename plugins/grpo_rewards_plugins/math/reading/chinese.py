"""Answers in Chinese: connectives, names of sets, units, counters and numerals, brought to what the reader knows."""

from __future__ import annotations

import re
from fractions import Fraction

from .units import COUNTERS, HAN_UNITS
from .vocabulary import WEEKDAYS

_PHRASES = {
    "选项": "", "答案": "", "无实数解": "no real solution", "没有实数解": "no real solution", "无实数根": "no real solution", "没有实数根": "no real solution", "无实根": "no real solution", "没有实根": "no real solution", "无解": "no solution", "没有解": "no solution", "不存在": "does not exist",
    "无穷大": "\\infty ", "正无穷": "\\infty ", "负无穷": "-\\infty ", "无穷多": "infinitely many", "无数": "infinitely many", "空集": "\\emptyset ",
    "全体实数": "\\mathbb{R}", "一切实数": "\\mathbb{R}", "任意实数": "\\mathbb{R}", "或者": " \\text{ or } ", "或": " \\text{ or } ",
    "大于等于": "\\ge ", "小于等于": "\\le ", "不小于": "\\ge ", "不大于": "\\le ", "不等于": "\\ne ", "大于": ">", "小于": "<", "等于": "=", "元钱": "元",
    "并且": " \\text{ and } ", "以及": " \\text{ and } ", "且": " \\text{ and } ", "和": " \\text{ and } ", "与": " \\text{ and } ", "及": " \\text{ and } ",
}  # fmt: skip
_WORDS = {
    **dict.fromkeys(("正确", "对", "对的", "是", "是的", "√", "真", "真命题"), "true"), **dict.fromkeys(("错误", "错", "不正确", "不对", "不是", "否", "×", "假", "假命题"), "false"),
    **{f"{week}{day}": name for week in ("星期", "周", "礼拜") for day, name in zip("一二三四五六日", WEEKDAYS, strict=True)},
    "星期天": "sunday", "周天": "sunday", "礼拜天": "sunday", "充分不必要": "sufficient but not necessary", "必要不充分": "necessary but not sufficient",
    "增": "increasing", "单调递增": "increasing", "递增": "increasing", "减": "decreasing", "单调递减": "decreasing", "递减": "decreasing",
    **dict.fromkeys(("不能确定", "无法确定", "不确定", "不能判断", "无法判断"), "not enough information"), "公平": "fair", "不公平": "unfair", "充要": "necessary and sufficient", "充分必要": "necessary and sufficient", "既不充分也不必要": "neither sufficient nor necessary",
    "既不充分又不必要": "neither sufficient nor necessary", "锐角": "acute", "直角": "right", "钝角": "obtuse", "等边": "equilateral",
    "等腰": "isosceles", "等腰直角": "isosceles right", "偶": "even", "奇": "odd", "非奇非偶": "neither even nor odd",
    **{name: name for name in "甲乙丙丁戊"},
}  # fmt: skip
_PLACES = {
    "相切": "tangent", "相交": "intersecting", "相离": "disjoint", "平行": "parallel", "垂直": "perpendicular", "异面": "skew", "重合": "coincident",
}  # fmt: skip
_PLACE = "(?:" + "|".join(_PLACES) + ")"
_RELATED = re.compile(f"(?:[^不没非无,]{{0,10}}[与和][^不没非无,]{{0,6}})?({_PLACE}(?:或{_PLACE}){{0,3}})")
_MORNING = ("上午", "早上", "早晨", "凌晨")
_MINUTES = re.compile(r"(\d{1,2})点(\d\d)分?")
_CLOCK = re.compile(r"(上午|早上|早晨|凌晨|下午|晚上|傍晚)\s?(\d{1,2})(?::|时|点)(?:(\d\d)分?)?")
_DATE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]")
_JIAO = re.compile(r"(\d{1,9})元(\d)角(?:(\d)分)?")
_HOURS_AND = re.compile(r"((?:小时|时)\s?\d{1,2})分(?!钟)")
_GAME = re.compile("^(?:这个|该|此|这)游戏(?:规则)?(?:是)?")
_NOUN_BEHIND = re.compile("(?<!.[真假])(?:的)?(?:条件|三角形|函数|班|组|队|同学|厂|地|车)$")
_DIGITS = {char: at for at, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "亿": 10**8}
_NUMERAL = re.compile("负?[零〇一二两三四五六七八九十百千万亿]{1,24}")
_WHOLE = re.compile("[零〇一二两三四五六七八九十百千万亿分之点负根号]{1,24}")
_SCALED = re.compile(r"(\d+(?:\.\d+)?)\s*([万亿])")
_HAN = re.compile("[\u4e00-\u9fff]")
_BEHIND_NUMBER = r"(?:(?<=[\d}\)%π])|(?<=\\pi))\s*(?:\\text\s*\{\s*|\\mathrm\s*\{\s*|\\mbox\s*\{\s*)?"
_UNIT = re.compile(_BEHIND_NUMBER + "(" + "|".join(HAN_UNITS) + r")(?![^\W\d])\s*\}?")
_COUNTER = re.compile(
    _BEHIND_NUMBER + "(?:" + "|".join(sorted(COUNTERS, key=len, reverse=True)) + r")(?:\w{1,6})?\s*\}?(?=\s*,\s*\d|$)"
)
_LEAD = re.compile(
    r"^(?:一共有?|总共有?|共有?|大约|约为?|(?:直线|抛物线|双曲线|椭圆|函数|圆|点)(?=\s?[a-zA-Z(\\$])|[\u4e00-\u9fff]{0,6}(?<![不没非])[为是](?=\s*[-\d$\\])|选(?=\s*(?:[A-J]\b|[甲乙丙丁]))|当(?=\s*[a-zA-Z]))\s*"
)
_RANGE = re.compile("^(?:实数)?([a-zA-Z])的(?:取值)?(?:范围|集合)[为是:]\\s*")
_COMPARES = re.compile(r"[<>=]|\\[lg]e|\\in(?![a-z])")
_SHARE = re.compile(r"(?<!\d)(\d{1,9})分之(\d{1,9})(?!\d)")
_EACH = re.compile("^每(小时|分钟|秒钟?|天)(?:行驶?|走|跑|飞行?)?(\\d+(?:\\.\\d+)?[\u4e00-\u9fff]{1,3})$")
_LEADING = re.compile("^[一二两三四五六七八九十百千]{1,8}(?=(?:" + "|".join(HAN_UNITS) + ")$)")
_NESTED = re.compile(r"\\(?:text|mathrm|mbox)\s*\{\s*(\\text\{[a-z ]+\})\s*\}")
_ORDINAL = re.compile("第\\s*(\\d+)\\s*(?:\\\\text\\s*\\{\\s*)?[\u4e00-\u9fff]\\s*\\}?$")
_MINUS = re.compile(r"负\s*(?=\d)")
_TURN = re.compile(r"(?<=\d)\s*度")
_UNSOLVABLE = re.compile("^(?:原|该|此)?(?:不等式|方程)组?(?=(?:无|没有)实?数?[解根])")
_LONGEST = 2_000


def from_chinese(text: str) -> str:
    """The text with what it has of Chinese in the reader's words; unchanged where there is none."""
    if len(text) > _LONGEST or _HAN.search(text) is None:
        return text
    plain = text.strip(" {}").removeprefix("\\text{").strip("。.")
    if (number := _numeral(plain)) is not None:
        return number
    if (place := _ORDINAL.fullmatch(plain)) is not None:
        return place[1]
    plain = _GAME.sub("", plain.replace("而", "")) or plain
    plain = plain if plain in _WORDS else plain.removeprefix("是") or plain
    if (known := _WORDS.get(plain) or _WORDS.get(_NOUN_BEHIND.sub("", plain))) is not None:
        return known
    if (related := _RELATED.fullmatch(plain)) is not None:
        return " or ".join(sorted(_PLACES[name] for name in related[1].split("或")))
    if (clock := _CLOCK.fullmatch(plain)) is not None:
        return f"{clock[2]}:{clock[3] or '00'} {'a' if clock[1] in _MORNING else 'p'}.m."
    if (minutes := _MINUTES.fullmatch(plain)) is not None:
        return f"{minutes[1]}:{minutes[2]}"
    if (day := _DATE.fullmatch(plain)) is not None:
        return f"{day[1]}-{day[2]}-{day[3]}"
    text = _SHARE.sub(r"\\frac{\2}{\1}", _EACH.sub(r"\2/\1", text))
    if (leading := _LEADING.match(text)) is not None and (size := _whole(leading[0])) is not None:
        text = f"{size}{text[leading.end() :]}"
    text = _JIAO.sub(lambda m: f"{m[1]}.{m[2]}{m[3] or ''}元", text)
    text = _HOURS_AND.sub(r"\1分钟", text)
    text = _UNSOLVABLE.sub("", text)
    for name, said in _PHRASES.items():
        if name in text:
            text = _NESTED.sub(r"\1", text.replace(name, said))
    if (ranged := _RANGE.match(text)) is not None:
        text = (
            text[ranged.end() :] if _COMPARES.search(text) is not None else f"{ranged[1]} \\in {text[ranged.end() :]}"
        )
    text = _LEAD.sub("", text, count=1)
    text = _MINUS.sub("-", text)
    text = _SCALED.sub(lambda m: str(Fraction(m[1]) * _LARGE[m[2]]), text)
    text = _UNIT.sub(lambda m: f"\\text{{ {HAN_UNITS[m[1]]}}}", text)
    text = _TURN.sub("^\\\\circ ", text)
    return _COUNTER.sub("", text).strip()


def said_of_value(text: str) -> str:
    """What a text says that its value is: ``最大值`` of ``最大值为3``; "" where it says nothing of it."""
    match = _SAID.match(text) if len(text) <= _LONGEST else None
    return "" if match is None or _NEUTRAL.search(match[1]) is not None else match[1]


_SAID = re.compile(r"[\s$]*(?:\\text\s*\{)?([\u4e00-\u9fff]{1,6})(?<![不没非])[为是](?=\s*[-\d$\\])")
_NEUTRAL = re.compile("[答结约共它其所因即故这那则]")


def contradict(one: str, other: str) -> bool:
    """Do two directions, or what is said of two values, exclude each other?  ``最大面积`` is ``面积最大值``."""
    if one.isascii() or other.isascii():
        return one != other
    return not (set(one) <= set(other) or set(other) <= set(one))


def _numeral(text: str) -> str | None:
    """``二十五`` as 25, ``三分之一`` as a fraction, ``百分之五`` as 5 percent; a counter behind it says nothing."""
    for counter in ("", *COUNTERS):
        if counter and not text.endswith(counter):
            continue
        plain = text[: len(text) - len(counter)]
        if _WHOLE.fullmatch(plain) is None:
            continue
        sign = "-" if plain.startswith("负") else ""
        below, parted, above = plain.removeprefix("负").partition("分之")
        if parted:
            rooted = above.startswith("根号")
            bottom, top = _whole("一百" if below == "百" else below), _number(above.removeprefix("根号"))
            if bottom is None or top is None or not bottom:
                return None
            if rooted:
                return f"{sign}\\frac{{\\sqrt{{{top}}}}}{{{bottom}}}"
            return f"{sign}{top}\\%" if below == "百" else f"{sign}\\frac{{{top}}}{{{bottom}}}"
        if below.startswith("根号") and (under := _whole(below[2:])) is not None:
            return f"{sign}\\sqrt{{{under}}}"
        if (value := _number(below)) is not None:
            return f"{sign}{value}"
    return None


def _number(text: str) -> str | None:
    """``十二点五`` as 12.5."""
    above, _, digits = text.partition("点")
    decimals = "".join(str(_DIGITS[char]) for char in digits if char in _DIGITS)
    value = _whole(above)
    return None if value is None or len(decimals) != len(digits) else f"{value}.{decimals}" if decimals else str(value)


def _whole(text: str) -> int | None:
    if not text or _NUMERAL.fullmatch(text) is None:
        return None
    if all(char in _DIGITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total = group = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _TENS:
            group += (digit or 1) * _TENS[char]
            digit = 0
        else:
            total = (total + group + digit) * _LARGE[char] if char == "亿" else total + (group + digit) * _LARGE[char]
            group = digit = 0
    return total + group + digit
