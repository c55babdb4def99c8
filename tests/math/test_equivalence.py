"""Gold against answer, a row per rule; grown from real failures of graders in use."""

import pytest
from grpo_rewards_plugins.math.grading import grade, read, unreadable

EQUAL = [
    ("5", "5.0"), ("0.5", ".5"), ("1/2", "0.5"), ("\\frac{1}{2}", "\\dfrac12"), ("918\\frac{1}{2}", "918.5"),
    ("12345", "12 345"), ("14916", "14 {, }916"), ("1234567.891", "1,234,567.891"), ("1000", "1 000"),
    ("7.2\\times 10^{5}", "720{,}000"), ("3\\times10^8", "3 \\cdot 10^{8}"), ("1024", "2^{10}"),
    ("28\\%", "28\\text{ percent}"), ("50\\%", "\\frac12"), ("28\\%", "28"),
    ("\\$10", "10"), ("10", "\\$10"), ("15\\mbox{ cm}^2", "15"), ("17", "17\\text{ any text}"), ("27", "27 apples"),
    ("27 \\mathrm{~min}", "27"), ("27 \\mathrm{~min}", "27\\text{ minutes}"),
    ("2\\sqrt{3}", "\\sqrt{12}"), ("\\sqrt3-1", "\\sqrt{4-2\\sqrt{3}}"), ("\\frac{1+\\sqrt5}{2}", "2\\cos\\frac{\\pi}{5}"),
    ("\\frac{1}{\\sqrt{n}}", "\\sqrt{1/n}"), ("\\tan^2(y)+1", "\\sec^2(y)"), ("e^{16} - 1", "-1 + exp(16)"),
    ("14 - i", "14.0 + -1.0i"), ("(r+5)^2", "(r+5)(r+5)"), ("x^2+3x", "x**2+3*x"), ("\\Gamma(5)", "24"),
    ("y = x^2+2x+1", "2x+ 1+x^2"), ("x=5", "5"), ("AB=4", "4"), ("|AB|=1", "1"), ("f(x)=1", "1"), ("x=11", "x=5+5+1=11"),
    ("2x+4y-3=0", "y = -1/2*x + 3/4"), ("x^2+y^2=25", "x^2+y^2-25=0"), ("\\frac{\\sqrt{3}}{3}", "\\frac{\\sqrt{3}}{3} \\approx 0.577"),
    ("1,2,3", "3,2,1"), ("19, 46, \\text{ and } 82", "19,46,82"), ("(x,y)=(1,2)", "(1,2)"), ("\\emptyset", "\\varnothing"),
    ("\\pm 2", "2,-2"), ("3\\pm2\\sqrt2", "3-2\\sqrt2\\text{ or }3+2\\sqrt2"), ("a=1 \\text{ or } a=-2", "a=-2 \\text{ or } a=1"),
    ("m \\in [\\sqrt{2}, +\\infty)", "m \\geq \\sqrt{2}"), ("-2\\le x\\le 7", "x\\in[-2,7]"), ("(-\\infty,\\infty)", "\\mathbb{R}"),
    ("(0,1)\\cup(1,2)", "(1,2)\\cup(0,1)"), ("0<f(x)<1", "(0,1)"), ("x \\neq 3", "x != 3"),
    ("\\begin{pmatrix} 2&4\\\\6&8 \\end{pmatrix}", "2\\begin{pmatrix} 1&2\\\\3&4 \\end{pmatrix}"),
    ("0.\\overline{142857}", "\\frac17"), ("1", "0.\\overline{9}"), ("\\frac13", "0.333..."), ("\\frac{1}{6}", "0.1(6)"),
    ("1010_2", "(1010)_2"), ("AB_{16}", "\\text{AB}_{16}"), ("4:30 p.m.", "4:30\\text{ PM}"),
    ("B", "\\text{B}"), ("B", "(b)"), ("C", "C) the third"), ("A, C", "A,C"), ("even", "\\text{Even}"), ("no real solutions", "No real solutions."),
    ("22.5^\\circ", "22\\frac{1}{2}^\\circ"), ("90", "90^\\circ"), ("4.123105625617661", "\\sqrt{17}"), ("33.3", "\\frac{100}{3}"),
    ("1", "\\lim_{x\\to0}\\frac{\\sin x}{x}"), ("15", "\\dbinom{6}{2}"), ("x^{-1}", "x⁻¹"), ("50", "５０"), ("5 : 1", "10:2"),
    # chains, numbers and bases
    ("204_5", "204_{\\text{five}}"), ("204_5", "204 \\text{ base } 5"), ("AB_{16}", "0xAB"), ("1010_2", "1010_{two}"), ("2500000", "2.5 million"),
    ("3\\times10^8", "3 x 10^8"), ("1000", "1'000"), ("\\frac{3}{4}", "{3 \\over 4}"), ("0.\\overline{3}", "0.3̅"), ("42", "٤٢"), ("15", "{}_6C_2"),
    ("15", "C(6,2)"), ("15", "{6 \\choose 2}"), ("\\frac{10!}{7!}", "P(10,3)"), ("3", "\\log 1000"), ("2i", "2*I"), ("3+4i", "3+4j"),
    ("\\frac{1}{2}+\\frac{\\sqrt3}{2}i", "\\operatorname{cis}\\frac{\\pi}{3}"), ("2x^2y", "2yx^2"), ("F_n = \\sum_{k=0}^{n-1} F_k F_{n-k-1}", "F_n = \\sum_{k=0}^{n-1} F_{n-k-1} F_k"), ("xe^x", "x e^{x}"),
    # sets and structures
    ("(0,1)", "]0,1["), ("x \\geq 3", "[3, \\infty["), ("(-\\infty,2)\\cup(3,\\infty)", "(-\\infty,2) \\text{ or } (3,\\infty)"), ("\\mathbb{R}", "\\text{all real numbers}"),
    ("\\emptyset", "\\text{no solution}"), ("(0,\\pm 3)", "(0,-3),(0,3)"), ("A\\cup B", "B\\cup A"), ("(1,2)", "P(1,2)"), ("A, C", "AC"), ("B", "\\text{Option B}"),
    ("\\begin{pmatrix} 1&2\\\\3&4 \\end{pmatrix}", "[[1,2],[3,4]]"), ("\\begin{pmatrix} 1\\\\2 \\end{pmatrix}", "(1,2)^T"), ("(1,2,3)", "\\mathbf{i}+2\\mathbf{j}+3\\mathbf{k}"),
    ("y=\\frac{1}{x}", "xy=1"), ("f(x)=x^2", "f(t)=t^2"), ("x=\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}", "\\frac{\\pi}{4}+k\\pi"), ("\\frac{x^3}{3}+C", "\\frac{x^3}{3}+c"),
    ("\\begin{cases} x & x\\ge0\\\\-x & x<0 \\end{cases}", "\\begin{cases} x & x>0\\\\-x & \\text{otherwise} \\end{cases}"),
    # ratios, times, dates, amounts, units
    ("3:4", "3 \\text{ to } 4"), ("4:30 p.m.", "16:30"), ("July 4, 1776", "4 July 1776"), ("2024-03-05", "March 5, 2024"), ("3 \\text{ hours } 20 \\text{ minutes}", "3 hours and 20 minutes"),
    ("9.8", "9.8 m/s²"), ("60\\text{ km/h}", "60\\ \\mathrm{km\\,h^{-1}}"), ("12\\text{ inches}", "12''"), ("£12.30", "12.30 pounds"), ("15", "USD 15"), ("15", "\\text{15 cm}"),
]  # fmt: skip

DIFFERENT = [
    ("5", "5.001"), ("5.001", "5"), ("0.1", "0.10001"), ("\\frac{1}{3}", "0.33"), ("\\pi", "3.1416"), ("\\sqrt{2}", "1.414"),
    ("72", "27 apples"), ("60\\text{ km/h}", "60\\text{ mph}"), ("5 cm", "5 m"), ("\\$5", "5\\%"), ("\\$18", "18\\text{ cents}"),
    ("12\\text{ inches}", "12\\text{ feet}"), ("30^\\circ", "30\\%"), ("\\frac{1}{4}", "20\\%"),
    ("204_5", "204_6"), ("204_5", "204_{10}"), ("4:30 pm", "4:30 am"), ("12:00", "1:00"), ("3:4", "0.34"), ("2016", "2024-03-05"),
    ("tea", "eat"), ("yes", "yesterday"), ("no", "on"), ("convergent", "\\text{not convergent}"), ("A", "A, B, C, D"), ("B", "AB"),
    ("5", "3x+2=5"), ("0", "a^2+b=0"), ("10^{-19}", "10^{-31}"), ("3^{100}", "3^{100}-1"), ("\\sin(10^{-8})", "10^{-8}"),
    ("\\frac{1}{2004!}", "\\frac{1}{2006!}"), ("42", "[41,43]"), ("42", "41 < x < 43"), ("12", "\\pm 12"), ("\\pm 2021", "2021"),
    ("\\pm 2", "2,2"), ("4", "3 or 4"), ("42", "\\frac{42}{0}"), ("42", "nan"), ("42", "x"), ("0", "\\emptyset"), ("\\emptyset", "\\{0\\}"),
    ("(1,2),(3,4)", "(2,1),(4,3)"), ("(2,3,4)", "(4,3,2)"), ("2,3,5", "235"), ("1, -1", "1"), ("x\\in[-2,7]", "-2< x< 7"),
    ("(0,1)\\cup(2,3)", "(0,1)\\cap(2,3)"), ("x<1", "x>-1"), ("x+y=1", "2x+2y=1"), ("x=5", "x=6"), ("x=5", "y=5"), ("|x-2|", "x-2"),
    ("n=2, 3, 4", "n=1, 2, 3"), ("\\begin{pmatrix} 1&0\\\\0&1 \\end{pmatrix}", "\\begin{pmatrix} 1&0&0\\\\0&1&0\\\\0&0&1 \\end{pmatrix}"),
    ("x_1", "x₂"), ("9", "3⁹"), ("2\\sqrt{x+1}", "2*sqrt(x)+1"), ("f(x)", "f(y)"), ("1,2,\\ldots,n", "1,3,5,\\ldots,2n-1"),
    ("0.\\overline{3}", "0.3"), ("3.00\\times10^{8}", "2.998\\times10^{8}"),
    ("xy^2", "(xy)^2"), ("\\pm 2", "(2,-2)"), ("a=1,b=2", "2,1"), ("0.5", "0.5\\%"), ("\\frac14", "0.25\\%"), ("1", "1\\%"), ("42", "42\\text{ or more}"),
    ("f(2) < f(1) < f(4)", "f(2) < f(1) < f(2)"), ("V_1:V_2=11:21", "V_1:V_4=11:21"), ("2^3=8=5+3", "2^4=8=5+3"), ("2<x<3", "3<x<2"), ("AB_{16}", "BA_{16}"),
    ("\\begin{cases} x & x\\ge0\\\\-x & x<0 \\end{cases}", "\\begin{cases} x & x\\ge1\\\\-x & x<0 \\end{cases}"), ("(1,2)", "Q(2,1)"), ("dog", "god"),
    ("4:30", "16:30"), ("July 4, 1776", "July 5, 1776"), ("3 \\text{ hours } 20 \\text{ minutes}", "3 hours 30 minutes"), ("15", "C(6,3)"), ("3+4i", "3+4x"),
    ("\\text{no real solutions}", "\\text{no solution}"), ("42", "42x"), ("A, C", "A, B"), ("x=k\\pi, k\\in\\mathbb{Z}", "x=2k\\pi, k\\in\\mathbb{Z}"), ("AB=4", "CD=4"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "answer"), EQUAL)
def test_equal(gold: str, answer: str) -> None:
    verdict = grade(gold, answer)
    assert verdict.equal, verdict


@pytest.mark.parametrize(("gold", "answer"), DIFFERENT)
def test_different(gold: str, answer: str) -> None:
    verdict = grade(gold, answer)
    assert not verdict.equal, verdict
    assert verdict.rule


@pytest.mark.parametrize(
    ("gold", "readable"), [("", False), ("  ", False), ("\\frac{", False), ("4", True), ("Paris", True), ("x+1", True)]
)
def test_golds_that_cannot_be_read_are_named(gold: str, readable: bool) -> None:
    assert (unreadable(read(gold)) is None) is readable
