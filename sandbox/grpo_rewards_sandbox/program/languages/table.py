"""The languages: one entry each says with what a program is compiled and run, and which Debian package has that."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from . import sources

PATH = "/usr/local/bin:/usr/local/go/bin:/usr/bin:/bin"
# where Debian and npm put typescript
_NODE_PATH = "/usr/local/lib/node_modules:/usr/lib/node_modules:/usr/share/nodejs"
_NO_OPENSSL = ("OPENSSL_CONF", "/dev/null")  # else node ends where it may not read the machine's
TRANSPILE = (
    "const t=require('typescript'),f=require('fs');"
    "const r=t.transpileModule(f.readFileSync('main.ts','utf8'),{reportDiagnostics:true,fileName:'main.ts',"
    "compilerOptions:{target:t.ScriptTarget.ES2020,module:t.ModuleKind.CommonJS,esModuleInterop:true}});"
    "for(const d of r.diagnostics)console.error('main.ts: '+t.flattenDiagnosticMessageText(d.messageText,'\\n'));"
    "if(r.diagnostics.length)process.exit(1);f.writeFileSync('main.js',r.outputText)"
)
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Language:
    """How programs of one language are compiled and run.

    `needs`: the commands, each with the Debian package that has it. `compile` and `run`: their words, in which ``{source}``
    is the file's name, ``{main}`` what `sources.names` found to start with, ``{memory}`` the limit in MiB and ``{stack}``
    that of the stack in KiB. `product`: the file that compiling makes; none where the text itself is run. `reserves`: the
    runtime reserves more address space than it uses, and needs so many bytes beside what the program holds: its memory is
    limited by what is written to and held. `stacks`: the address space that threads of its programs ask for beside what they
    use; what is held is looked at. `out_of_memory`: what it writes on standard error when memory is short.
    `input_file`: the name of a file that is its standard input, for a runtime that opens ``/dev/stdin`` by the path it leads to.
    """

    needs: dict[str, str]
    run: tuple[str, ...]
    source: str
    compile: tuple[str, ...] = ()
    product: str = ""
    reserves: int = 0
    out_of_memory: bytes = rb"(?!)"
    environment: tuple[tuple[str, str], ...] = ()
    compile_tests: tuple[str, ...] = ()
    input_file: str = ""
    name: Callable[[str], tuple[str, str]] | None = None
    stacks: int = 0

    def files(self, text: str) -> tuple[str, str]:
        """Return the name of the source's file and what to start, for this text."""
        return self.name(text) if self.name else (self.source, "")

    def ran_out_of_memory(self, said: bytes) -> bool:
        """Say whether a program that ended badly says that memory was short."""
        return re.search(self.out_of_memory, said) is not None


# one file without modules, no network, no C compiler
_GO_ENVIRONMENT = (
    ("GOCACHE", "{folder}/.go-cache"), ("GOPATH", "{folder}/.go"), ("GO111MODULE", "off"), ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"), ("CGO_ENABLED", "0"), ("GOTELEMETRY", "off"), ("GOMEMLIMIT", "{memory}MiB"),
)  # fmt: skip
_JUDGE = "-DONLINE_JUDGE"  # programs for the sites read files of their own where it is not defined
_C = ("-O2", _JUDGE, "-w", "-fmax-errors=5", "-fdiagnostics-color=never", "-o", "main", "{source}")
_NODE = ("node", "--max-old-space-size={memory}", "--stack-size={stack}")
_JAVA = (
    # the serial collector: others start threads, which count as processes; no PerfData: it is a file in /tmp
    "java", "-Xmx{memory}m", "-Xss64m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto",
    "-XX:+ExitOnOutOfMemoryError", f"{_JUDGE}=true", "-ea", "-cp", "main.jar", "{main}",
)  # fmt: skip
_BAD_ALLOC = rb"std::bad_alloc|out of memory|Cannot allocate memory"
_HEAP = rb"JavaScript heap out of memory|Array buffer allocation failed|FATAL ERROR: .* out of memory"

LANGUAGES: dict[str, Language] = {
    "c": Language(
        {"gcc": "gcc libc6-dev"}, ("./main",), "main.c", ("gcc", "-std=gnu17", *_C, "-lm"), "main",
        out_of_memory=_BAD_ALLOC,
    ),
    "cpp": Language(
        {"g++": "g++"}, ("./main",), "main.cpp", ("g++", "-std={main}", *_C, "-pthread"), "main",
        out_of_memory=_BAD_ALLOC, name=sources.cpp,
    ),
    "java": Language(
        {"javac": "default-jdk-headless", "java": "default-jdk-headless"}, _JAVA, "Main.java",
        # the first tier alone: javac is done before better code would pay
        ("javac", "-J-Xmx512m", "-J-XX:+UseSerialGC", "-J-XX:-UsePerfData", "-J-XX:TieredStopAtLevel=1", "-nowarn",
         "-encoding", "UTF-8", "-proc:none", "-d", "classes", "{source}"),
        "classes", 256 * _MIB, rb"java\.lang\.OutOfMemoryError", name=sources.java,
    ),
    "javascript": Language({"node": "nodejs"}, (*_NODE, "{source}"), "main.js", reserves=192 * _MIB,
                           out_of_memory=_HEAP, environment=(_NO_OPENSSL,), name=sources.javascript),
    "typescript": Language(
        {"node": "nodejs", "tsc": "node-typescript"}, (*_NODE, "main.js"), "main.ts", ("node", "-e", TRANSPILE), "main.js",
        192 * _MIB, _HEAP, (_NO_OPENSSL, ("NODE_PATH", _NODE_PATH)),
    ),
    "go": Language(
        {"go": "golang-go"}, ("./main",), "main.go", ("go", "build", "-o", "main", "{source}"), "main", 128 * _MIB,
        rb"fatal error: (runtime: )?(out of memory|cannot allocate memory)", _GO_ENVIRONMENT,
        ("go", "test", "-vet=off", "-c", "-o", "main", "{source}"), name=sources.go,
    ),
    "rust": Language(
        {"rustc": "rustc"}, ("./main",), "main.rs",
        ("rustc", "-O", "--edition", "2021", "-A", "warnings", "-o", "main", "{source}"), "main",
        stacks=1 << 30, out_of_memory=rb"memory allocation of \d+ bytes failed",
        compile_tests=("rustc", "--test", "--edition", "2021", "-A", "warnings", "-o", "main", "{source}"),
    ),
    "ruby": Language({"ruby": "ruby"}, ("ruby", "{source}"), "main.rb",
                     out_of_memory=rb"NoMemoryError|failed to allocate memory"),
    "php": Language(
        {"php": "php-cli php-mbstring php-bcmath php-gmp"},
        ("php", "-d", "memory_limit={memory}M", "-d", "display_errors=stderr", "-d", "html_errors=0", "{source}"),
        "main.php", out_of_memory=rb"Allowed memory size of \d+ bytes exhausted|Out of memory", input_file=".stdin",
    ),
    "bash": Language({"bash": "bash"}, ("bash", "{source}"), "main.sh", out_of_memory=rb"xmalloc: cannot allocate|xrealloc: cannot"),
    "csharp": Language(
        {"mcs": "mono-mcs", "mono": "mono-runtime"}, ("mono", "main.exe"), "main.cs",
        ("mcs", "-out:main.exe", "{source}"), "main.exe", 128 * _MIB, rb"System\.OutOfMemoryException",
    ),
    "perl": Language({"perl": "perl"}, ("perl", "{source}"), "main.pl", out_of_memory=rb"Out of memory"),
    "lua": Language({"lua5.4": "lua5.4"}, ("lua5.4", "{source}"), "main.lua", out_of_memory=rb"not enough memory"),
}  # fmt: skip


def missing(language: str) -> str:
    """Say what this machine lacks for a language, and the Debian package that has it; empty where it lacks nothing."""
    if language == "python":
        return ""
    needs = LANGUAGES[language].needs
    lacking = [command for command in needs if shutil.which(command, path=PATH) is None]
    if not lacking:
        return ""
    packages = " ".join(dict.fromkeys(needs[command] for command in lacking))
    return (
        f"{' and '.join(lacking)} for {language} is not installed where the sandbox runs; local: apt-get install {packages}; "
        f"docker: grpo-rewards sandbox build --language {language}"
    )


def packages(languages: tuple[str, ...]) -> list[str]:
    """Return the Debian packages of these languages."""
    return sorted({word for name in languages for text in LANGUAGES[name].needs.values() for word in text.split()})
