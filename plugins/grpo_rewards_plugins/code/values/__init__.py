"""Tests of other languages that hold calls and expected values, as two programs that never meet.

MultiPL-E and HumanEval-X join program and tests in one text, which a program can end, redefine or answer for. Here each
assertion is split into what the program computes and what is expected: the first becomes part of the candidate's program, the
second a program of its own, and both write values, which the sandbox compares. `splitting` finds the assertions, `equations`
the two sides of one, `writers` writes values as JSON in each language.
"""
