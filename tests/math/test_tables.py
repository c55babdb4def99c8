"""Hand-made tables by class of answer, one file each; every line is a gold, what stands in the box, and whether they are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from grpo_rewards_plugins.math.grading import grade

from grpo_rewards import get_reward

FOLDER = Path(__file__).parent
TABLES = (
    "quantities",
    "science",
    "forms",
    "notations",
    "near_misses",
    "second_answers",
    "third_answers",
    "fourth_answers",
    "fifth_answers",
    "sixth_answers",
    "seventh_answers",
    "seventh_quantities",
    "eighth_answers",
    "eighth_quantities",
    "ninth_answers",
    "tenth_answers",
    "eleventh_answers",
    "twelfth_answers",
    "thirteenth_answers",
    "fourteenth_answers",
    "fifteenth_answers",
    "sixteenth_answers",
    "seventeenth_answers",
    "eighteenth_answers",
    "nineteenth_answers",
    "twentieth_answers",
    "twentyfirst_answers",
    "twentysecond_answers",
    "twentythird_answers",
    "twentyfourth_answers",
    "twentyfifth_answers",
    "twentysixth_answers",
    "twentyseventh_answers",
    "twentyeighth_answers",
    "twentyninth_answers",
    "thirtieth_answers",
    "around_a_value",
)


_ONE_LABEL = {"near_misses": "F", "notations": "T", "around_a_value": "F"}


def rows(name: str) -> list[tuple[str, str, str]]:
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [
        (mark, gold, answer)
        for mark, gold, answer in (line.split(" | ", 2) for line in lines if line[:1] in "TF" and line)
    ]


@pytest.mark.parametrize("label", ["T", "F"])
@pytest.mark.parametrize("name", TABLES)
def test_each_line_of_a_table_holds(name: str, label: str) -> None:
    chosen = [(gold, answer) for mark, gold, answer in rows(name) if mark == label]
    if name in _ONE_LABEL and label not in _ONE_LABEL[name]:
        assert not chosen
        return
    assert len(chosen) > 10
    patient = get_reward("math").with_(timeout=30.0)  # a loaded machine is no finding
    found = patient(
        completions=[rf"So it is \boxed{{{answer}}}." for _, answer in chosen], answer=[gold for gold, _ in chosen]
    )
    assert [pair for pair, value in zip(chosen, found, strict=True) if value != float(label == "T")] == []


def test_units_are_converted_only_where_the_setting_says_so() -> None:
    assert grade("1.8\\text{ m}", "180\\text{ cm}").equal
    assert not grade("1.8\\text{ m}", "180\\text{ cm}", convert_units=False).equal
    assert grade("12\\text{ N}", "12\\text{ kg m/s}^2", convert_units=False).equal  # algebra is no conversion


@pytest.mark.parametrize("label", ["T", "F"])
@pytest.mark.parametrize(
    "name",
    [
        "completions",
        "around_an_answer",
        "word_answers",
        "second_words",
        "third_words",
        "fourth_words",
        "fifth_words",
        "sixth_words",
        "seventh_words",
        "eighth_words",
        "tenth_words",
        "eleventh_words",
        "twelfth_words",
        "fourteenth_words",
        "fifteenth_words",
        "sixteenth_words",
        "seventeenth_words",
        "eighteenth_words",
        "nineteenth_words",
        "twentieth_words",
        "twentyfirst_words",
        "twentyfifth_words",
        "twentysixth_words",
        "twentyseventh_words",
        "twentyeighth_words",
        "twentyninth_words",
        "thirtieth_words",
    ],
)
def test_the_answer_is_found_whatever_stands_around_it(name: str, label: str) -> None:
    chosen = [(gold, text.replace("\\n", "\n")) for mark, gold, text in rows(name) if mark == label]
    assert len(chosen) > 4
    found = get_reward("math")(completions=[text for _, text in chosen], answer=[gold for gold, _ in chosen])
    assert [pair for pair, value in zip(chosen, found, strict=True) if value != float(label == "T")] == []
