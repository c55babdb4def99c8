"""Digit groups put together: ``1,234,567`` and ``12 345``."""

from __future__ import annotations

from .tokens import Token

__all__ = ["grouped"]


def grouped(tokens: list[Token]) -> list[Token]:
    """Digit groups put together: ``1,234,567`` and ``12 345`` outside brackets."""
    if not any(t.kind == "num" for t in tokens[1:]):
        return tokens
    out: list[Token] = []
    depth, at, count = 0, 0, len(tokens)
    while at < count:
        token = tokens[at]
        if token.kind == "op":
            depth += (token.text in ("(", "[", "\\{")) - (token.text in (")", "]", "\\}"))
        if (
            token.kind == "num"
            and token.text.isdigit()
            and len(token.text) <= 3
            and token.text[0] != "0"
            and at + 1 < count
        ):
            digits, here = token.text, at + 1
            while here < count:
                comma = (
                    # within brackets a comma stands between parts
                    tokens[here].kind == "op" and tokens[here].text == "," and not tokens[here].spaced and depth == 0
                )
                after = tokens[here + 1] if comma and here + 1 < count else None
                nxt = after if comma else tokens[here]
                # no space behind the comma of 1,234, and one between the groups of 12 345
                if nxt is None or nxt.kind != "num" or nxt.spaced == comma:
                    break
                head, _, _ = nxt.text.partition(".")
                if len(head) != 3 or not head.isdigit() or "e" in nxt.text.lower():
                    break
                digits += nxt.text
                here += 2 if comma else 1
                if "." in digits:
                    break
            out.append(token._replace(text=digits))
            at = here
            continue
        out.append(token)
        at += 1
    return out
