"""What stands before the tests where prompt, program and tests are one text."""

from __future__ import annotations

import pytest
from grpo_rewards_plugins.code.shapes.joined import before_tests

C_PROMPT = "#include <vector>\n// Twice.\nlong twice(long n) {\n"
C_TESTS = "}\nint main() { assert(twice(2) == 4); }\n"
JAVA_PROMPT = "import java.util.*;\nclass Problem {\n    // Twice.\n    public static long twice(long n) {\n"
JAVA_TESTS = "    }\n    public static void main(String[] args) {\n    assert(twice(2l) == 4l);\n    }\n\n}\n"
JS_PROMPT = "//Twice.\nfunction twice(n){\n"
GO_PROMPT = 'package twice_test\n\nimport (\n    "testing"\n)\n\nfunc twice(n int) int {\n'
GO_TESTS = "}\n\nfunc TestTwice(t *testing.T) { }\n"
HX_JAVA = "import java.util.*;\n\nclass Solution {\n    /** Twice. */\n    public int twice(int n) {\n"
HX_TESTS = "public class Main { public static void main(String[] a) { new Solution().twice(2); } }\n"


def plain(source: str) -> str:
    return " ".join(source.split())


@pytest.mark.parametrize(
    ("language", "prompt", "program", "tests", "expected"),
    [
        ("cpp", C_PROMPT, "    return 2 * n;", C_TESTS, "#include <vector> // Twice. long twice(long n) { return 2 * n;"),
        ("cpp", C_PROMPT, "    return 2 * n;\n}\n", C_TESTS, "#include <vector> // Twice. long twice(long n) { return 2 * n;"),
        ("cpp", C_PROMPT, "long h(long n) { return n; }\nlong twice(long n) {\n  if (n) { return h(n) + n; }\n  return 0;\n}\nint main() { return 0; }",
         C_TESTS, "#include <vector> // Twice. long h(long n) { return n; } long twice(long n) { if (n) { return h(n) + n; } return 0; } void grpo_frame() {"),
        ("cpp", C_PROMPT, "long twice(long n);\nlong twice(long n) { char c = '}'; return 2 * n; // }\n}", C_TESTS,
         "#include <vector> // Twice. long twice(long n); long twice(long n) { char c = '}'; return 2 * n; // } } void grpo_frame() {"),
        ("cpp", C_PROMPT, "long twice(long n) { return n + n; }\nvoid show() { twice(1); }", C_TESTS,
         "#include <vector> // Twice. long twice(long n) { return n + n; } void show() { twice(1); } void grpo_frame() {"),
        ("java", JAVA_PROMPT, "import java.math.*;\npublic class Problem {\n  static long h(long n) { return n; }\n  public static long twice(long n) {"
         " return h(n) + n; }\n  public static void main(String[] a) { }\n}", JAVA_TESTS,
         "import java.math.*; import java.util.*; class Problem { // Twice. static long h(long n) { return n; } public static long twice(long n) { return h(n) + n; } static void grpoFrame() {"),
        ("java", JAVA_PROMPT, "public static long twice(long n) { return n + n; }", JAVA_TESTS,
         "import java.util.*; class Problem { // Twice. public static long twice(long n) { return n + n; } static void grpoFrame() {"),
        ("java", JAVA_PROMPT, "class Problem { static long twice(long n) { return n + n; } }", JAVA_TESTS,
         "import java.util.*; class Problem { // Twice. static long twice(long n) { return n + n; } static void grpoFrame() {"),
        ("java", HX_JAVA, "class Solution { public int twice(int n) { return n + n; } }", HX_TESTS,
         "import java.util.*; class Solution { public int twice(int n) { return n + n; } }"),
        ("java", HX_JAVA, "public int twice(int n) { return n + n; }", HX_TESTS,
         "import java.util.*; class Solution { /** Twice. */ public int twice(int n) { return n + n; } }"),
        ("javascript", JS_PROMPT, "function twice(n) { return `}` ? 2 * n : 0; }", "test();", "//Twice. function twice(n) { return `}` ? 2 * n : 0; }"),
        ("javascript", JS_PROMPT, "const twice = (n) => { return 2 * n; };", "test();", "//Twice. const twice = (n) => { return 2 * n; };"),
        ("javascript", JS_PROMPT, "  return 2 * n;\n}\nfunction more() {}", "test();", "//Twice. function twice(n){ return 2 * n; }"),
        ("go", GO_PROMPT, 'package main\n\nimport (\n\t"fmt"\n\t"math"\n)\n\nfunc twice(n int) int {\n\treturn 2 * int(math.Abs(float64(n)))\n}\n\nfunc main() { fmt.Println(1) }',
         GO_TESTS, 'package twice_test import "math" import ( "testing" ) func twice(n int) int { return 2 * int(math.Abs(float64(n))) } func grpoFrame() {'),
        ("ruby", "# Twice.\ndef twice(n)\n", "def twice(n)\n  2 * n\nend", "test", "# Twice. def twice(n) 2 * n end"),
        ("bash", "# Twice.\ntwice() {\n", "twice() {\n  echo \"${1}}\"\n}", "}\ncandidate() { twice; }", '# Twice. twice() { echo "${1}}" } grpo_frame() { :'),
    ],
    ids=["body", "body with its brace", "helpers and main", "declared first, brace in a text", "used by what follows", "a class", "a method", "a class in a line", "the prompt's class",
         "a method alone", "function", "arrow", "stop", "file with imports", "ruby", "bash"],
)  # fmt: skip
def test_the_program_takes_the_place_of_what_the_prompt_begins(
    language: str, prompt: str, program: str, tests: str, expected: str
) -> None:
    stops = ["\nfunction "] if language == "javascript" else []
    assert plain(before_tests(prompt, program, tests, language, stops)) == expected


def test_definitions_that_nothing_closes_are_found_out_soon() -> None:
    hostile = "long twice(long n) {\n" * 20_000
    before_tests(C_PROMPT, hostile, C_TESTS, "cpp")  # a search from each of them to the end would take minutes
