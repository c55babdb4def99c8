"""The words that the tokenizer and the parser know."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())

# What the text may call a function -> what the tree calls it.
FUNCTIONS = {
    **{name: name for name in "sin cos tan cot sec csc sinh cosh tanh coth sech csch exp gcd lcm max min det".split()},
    **{f"arc{name}": f"a{name}" for name in "sin cos tan cot sec csc".split()},
    **{f"a{name}": f"a{name}" for name in "sin cos tan sinh cosh tanh".split()},
    **{f"arc{name}": f"a{name}" for name in "sinh cosh tanh".split()},
    "arsinh": "asinh",
    "arcosh": "acosh",
    "artanh": "atanh",
    "cosec": "csc",
    "tg": "tan",
    "ctg": "cot",
    "cotg": "cot",
    "arctg": "atan",
    "log": "log",
    "ln": "ln",
    "lg": "lg",
    "sqrt": "sqrt",
    "cbrt": "cbrt",
    "abs": "abs",
    "floor": "floor",
    "ceil": "ceil",
    "sgn": "sign",
    "sign": "sign",
    "Re": "re",
    "Im": "im",
    "arg": "arg",
    "Gamma": "gamma",
    "factorial": "factorial",
    "binomial": "binom",
    "binom": "binom",
    "erf": "erf",
    "cis": "cis",
}

GREEK = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma "
    "varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar "
    "partial nabla aleph".split()
)

CONSTANT_WORDS = {"pi": "pi", "Pi": "pi", "inf": "oo", "infty": "oo", "infinity": "oo", "Infinity": "oo", "oo": "oo"}

RELATIONS = {
    "=": "=", "==": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!=": "!=", "<>": "!=", "=<": "<=", "≠": "!=",
    "\\le": "<=", "\\leq": "<=", "\\leqslant": "<=", "\\leqq": "<=", "\\ge": ">=", "\\geq": ">=", "\\geqslant": ">=",
    "\\geqq": ">=", "\\lt": "<", "\\gt": ">", "\\neq": "!=", "\\ne": "!=", "\\not=": "!=", "\\approx": "~",
    "\\simeq": "~", "\\cong": "~=", "\\equiv": "==", "\\in": "in", "\\notin": "notin", "\\sim": "sim",
    "\\Rightarrow": "=>", "\\implies": "=>", "\\iff": "<=>", "\\Leftrightarrow": "<=>", "\\to": "->",
    "\\rightarrow": "->", "\\longrightarrow": "->", "\\mapsto": "->", "->": "->", "\\subset": "subset",
    "\\subseteq": "subseteq", "\\parallel": "parallel", "\\perp": "perp", "\\propto": "propto", "\\doteq": "~",
    ":=": "=", "\\coloneqq": "=", "\\ll": "<<", "\\gg": ">>", "≈": "~",
}  # fmt: skip

# Commands whose braces hold words or one upright symbol.
TEXT_COMMANDS = frozenset(
    "\\text \\mbox \\textbf \\textit \\textrm \\textnormal \\textsf \\texttt \\hbox \\mathrm \\mathbf \\mathit \\mathsf "
    "\\mathtt \\operatorname \\boldsymbol \\bm \\emph \\underline \\mathop \\textup \\textsc \\rm \\bf \\it \\pmb "
    "\\operatorname* \\symbf \\symrm \\bold \\mathbold \\unit \\mathnormal \\textcolor \\color".split()
)

# Typesetting that means nothing.
SKIPPED = frozenset(
    "\\quad \\qquad \\displaystyle \\textstyle \\scriptstyle \\limits \\nolimits \\big \\Big \\bigg \\Bigg \\bigl "
    "\\bigr \\Bigl \\Bigr \\biggl \\biggr \\Biggl \\Biggr \\bigm \\large \\Large \\small \\hfill \\hline \\nonumber "
    "\\notag \\strut \\mathstrut \\smallskip \\medskip \\bigskip \\noindent \\centering \\thinspace \\ensuremath "
    "\\par \\middle \\allowbreak \\enspace \\space \\mathopen \\mathclose \\mathord \\cline \\normalsize "
    "\\checkmark \\blacksquare \\qed \\qedhere \\boxed \\fbox \\mathchoice \\therefore \\because".split()
)
