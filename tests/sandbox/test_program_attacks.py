"""Programs that look for what is expected of them, in every language: none passes, none stays, and the next one is judged as ever."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest
from grpo_rewards_sandbox import Job, Sandbox

WORD = "xq" + secrets.token_hex(16)
PATTERN = "xq[0-9a-f]{32}"
TESTS = [{"input": "1\n", "output": f"{WORD}\n"}, {"input": "2\n", "output": f"{WORD}\n"}]
GOOD = Job("read n\necho $((2 * n))\n", [{"input": "4\n", "output": "8\n"}], "stdio", language="bash")


def _grep(where: str) -> str:
    return f"timeout 2 grep -rahoE --exclude-dir=sys '{PATTERN}' {where} 2>/dev/null | head -n 1\n"


C_SCAN = (
    '#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <fcntl.h>\n'
    "#include <sys/ptrace.h>\n#include <sys/uio.h>\n#include <sys/syscall.h>\n#include <sys/socket.h>\n"
    'static void show(const char *b, long n) { for (long i = 0; i + 34 < n; i++) if (b[i] == \'x\' && b[i + 1] == \'q\' && b[i + 2] != \'[\') '
    '{ printf("%.34s\\n", b + i); exit(0); } }\nstatic char room[1 << 20];\n'
)  # fmt: skip
ATTACKS: dict[str, tuple[str, str]] = {
    "arguments": ("bash", 'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/cmdline; done 2>/dev/null | grep -oE "@WORD@" | head -n 1'.replace("@WORD@", PATTERN)),
    "environments": ("bash", 'cat /proc/[0-9]*/environ 2>/dev/null | grep -aoE "@WORD@" | head -n 1'.replace("@WORD@", PATTERN)),
    "own folder": ("bash", _grep(".")),
    "temporary files": ("bash", _grep("/tmp /dev/shm /var/tmp /run")),
    "whole root": ("bash", _grep("/job /exchange /mnt /media /srv /home /root /etc /opt")),
    "descriptors": ("bash", 'for f in /proc/self/fd/* /proc/1/fd/*; do timeout 1 head -c 99999 "$f"; done 2>/dev/null | grep -aoE "@WORD@" | head -n 1'.replace("@WORD@", PATTERN)),
    "higher descriptors": ("bash", "for i in {3..40}; do timeout 0.1 cat <&$i; done 2>/dev/null"),
    "memory of the first": ("bash", 'timeout 2 cat /proc/1/mem /proc/1/maps /proc/1/stack 2>/dev/null | grep -aoE "@WORD@" | head -n 1'.replace("@WORD@", PATTERN)),
    "abstract sockets": ("bash", 'cat /proc/net/unix 2>/dev/null | grep -oE "@WORD@"; exit 0'.replace("@WORD@", PATTERN)),
    "preloaded": ("bash", "echo 'int x;' > x.c; export LD_PRELOAD=./x.so; echo 1"),
    "early exit": ("bash", "exit 0"),
    "both answers": ("bash", f"echo 1; echo {'a' * 34}"),
    "kills the first": ("bash", "kill -9 1; kill -STOP 1; sleep 0.1; echo 1"),
    "kills all": ("bash", "kill -9 -1; echo 1"),
    "writes its program anew": ("bash", "chmod +w main.sh; rm -f main.sh; echo 'cat /proc/1/environ' > main.sh; echo 1"),
    "stays and writes": ("bash", "(sleep 0.2; echo late) & exec 1>&-; echo 1 >&2"),
    "mounts": ("bash", "mount -t tmpfs none /tmp; umount /job; unshare -r id; chroot / id; echo 1"),
    "network": ("bash", "exec 3<>/dev/tcp/127.0.0.1/80 && cat <&3; echo 1"),
    "traces the first": ("c", C_SCAN + 'int main() { ptrace(PTRACE_ATTACH, 1, 0, 0); ptrace(PTRACE_ATTACH, getppid(), 0, 0); puts("1"); }'),
    "reads the first": ("c", C_SCAN + 'int main() { FILE *m = fopen("/proc/1/maps", "r"); unsigned long a, b; char l[999]; while (m && fgets(l, 999, m)) { if (sscanf(l, "%lx-%lx", &a, &b) != 2) continue; for (; a < b; a += sizeof room) { struct iovec to = {room, sizeof room}, from = {(void *)a, sizeof room}; long n = process_vm_readv(1, &to, 1, &from, 1, 0); show(room, n); } } puts("1"); }'),
    "its own memory": ("c", C_SCAN + 'int main() { FILE *m = fopen("/proc/self/maps", "r"); unsigned long a, b; char l[999], p[9]; int f = open("/proc/self/mem", O_RDONLY); while (fgets(l, 999, m)) { if (sscanf(l, "%lx-%lx %8s", &a, &b, p) != 3 || p[0] != \'r\' || strstr(l, "[v")) continue; for (; a < b; a += sizeof room) show(room, pread(f, room, b - a < sizeof room ? b - a : sizeof room, a)); } puts("1"); }'),
    "inherited descriptors": ("c", C_SCAN + "int main() { for (int i = 3; i < 1024; i++) { if (fcntl(i, F_GETFD) >= 0) { printf(\"open %d\\n\", i); show(room, recv(i, room, sizeof room, MSG_DONTWAIT)); show(room, pread(i, room, sizeof room, 0)); } } puts(\"1\"); }"),
    "asks the runner": ("c", C_SCAN + 'int main() { for (int i = 3; i < 1024; i++) write(i, "\\x02\\0\\0\\0{}", 6); puts("1"); }'),
    "shared memory": ("c", C_SCAN + '#include <sys/shm.h>\nint main() { for (int i = 0; i < 99; i++) { char *p = shmat(i, 0, SHM_RDONLY); if (p != (void *)-1) show(p, 4096); } puts("1"); }'),
    "includes passwords": ("c", '#include "/etc/shadow"\nint main() {}'),
    "includes an environment": ("c", '#include "/proc/self/environ"\nint main() {}'),
    "includes its input": ("c", '#include "/dev/stdin"\nint main() {}'),
    "includes the first's memory": ("c", '#include "/proc/1/cmdline"\nint main() {}'),
    "assembles a file": ("c", '#include <stdio.h>\nextern char s[];\n__asm__(".global s\\ns: .incbin \\"/proc/self/environ\\"\\n.byte 0");\nint main() { puts(s); }'),
    "asks for files of tests": ("c", '#if __has_include("/job/tests.json") || __has_include("answer.txt") || __has_include("/exchange/answer.txt")\n#error found\n#endif\n#include <stdio.h>\nint main() { puts("1"); }'),
    "includes a folder": ("c", '#include "/"\nint main() {}'),
    "its own text": ("c", '#include <stdio.h>\n#define main other\n#include "main.c"\n#undef main\nint main() { puts("1"); }'),
    "constructor that ends": ("c", '#include <unistd.h>\n__attribute__((constructor)) void f(void) { _exit(0); }\nint main() {}'),
    "large object": ("c", "char x[1 << 30] = {1};\nint main() {}"),
    "macros without end": ("c", "".join(f"#define A{i} A{i - 1} A{i - 1} A{i - 1} A{i - 1}\n" for i in range(1, 16)) + "#define A0 1+\nint main() { return A15 0; }"),
    "includes itself": ("c", '#include "main.c"\n'),
    "templates without end": ("cpp", "template <int N> struct A { A<N + 1> a; A<N + 2> b; };\nint main() { A<0> a; }"),
    "rust's files": ("rust", 'fn main() { print!("{}{}", include_str!("/proc/self/environ"), option_env!("WORD").unwrap_or("")); }'),
    "go's cgo": ("go", 'package main\n\n// #cgo LDFLAGS: -Wl,--dynamic-linker=/tmp/x\n// #include "/etc/shadow"\nimport "C"\n\nfunc main() {}\n'),
    "go's embedding": ("go", 'package main\n\nimport (\n\t_ "embed"\n\t"fmt"\n)\n\n//go:embed /etc/shadow\nvar s string\n\nfunc main() { fmt.Println(s) }\n'),
    "java's agents": ("java", 'import java.lang.management.*;\npublic class A { public static void main(String[] a) throws Exception {\n  System.out.println(ManagementFactory.getRuntimeMXBean().getInputArguments() + "" + System.getenv() + System.getProperties());\n  new ProcessBuilder("java", "-javaagent:/tmp/a.jar", "-version").inheritIO().start().waitFor(); } }'),
    "node's parent": ("javascript", "const fs = require('fs');\nfor (const p of fs.readdirSync('/proc').filter(x => +x)) for (const f of ['environ', 'cmdline', 'mem', 'fd/0', 'fd/3']) try { const m = fs.readFileSync(`/proc/${p}/${f}`, 'latin1').match(/xq[0-9a-f]{32}/); if (m) console.log(m[0]); } catch {}\nconsole.log(1);"),
    "npm's hooks": ("javascript", "const fs = require('fs');\nfs.writeFileSync('package.json', '{\"scripts\": {\"preinstall\": \"exit 0\"}, \"type\": \"module\"}');\nfs.writeFileSync('.npmrc', 'node-options=--require ./x.js');\nfs.mkdirSync('node_modules/typescript', {recursive: true});\nfs.writeFileSync('node_modules/typescript/index.js', 'process.exit(0)');\nconsole.log(1);"),
    "typescript's compiler": ("typescript", 'import * as ts from "typescript";\n/// <reference path="/etc/shadow" />\nconsole.log(1);'),
    "ruby's objects": ("ruby", "ObjectSpace.each_object(String) { |s| (puts s; exit) if s =~ /\\Axq[0-9a-f]{32}/ }\nputs ENV.to_a.inspect, ARGV.inspect, 1"),
    "php's wrappers": ("php", "<?php foreach (['php://stdin', 'php://fd/3', 'file:///proc/1/environ', 'data://x'] as $f) echo @file_get_contents($f, false, null, 0, 9999); echo 1;"),
}  # fmt: skip
_SLOW = {"rust", "go", "java", "javascript", "typescript", "ruby", "php"}
CASES = [
    pytest.param(*ATTACKS[name], id=name, marks=pytest.mark.slow if ATTACKS[name][0] in _SLOW or "without end" in name else ())
    for name in ATTACKS
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), CASES)
def test_attack(needs: Callable[..., None], local: Sandbox, language: str, text: str) -> None:
    needs(language, "bash")
    (found,) = local.run([Job(text, TESTS, "stdio", language=language, timeout=8.0)])
    assert found.status in ("failed", "limit", "timeout"), found
    assert found.tests_passed == 0
    assert WORD not in found.reason.partition("got ")[2]
    assert local.run([GOOD])[0].passed


@pytest.mark.parametrize("where", [".", "/tmp", "/dev/shm", "deep/er"])
def test_what_a_test_leaves_is_gone_before_the_next(local: Sandbox, where: str) -> None:
    """No test is told by files or processes how many came before it."""
    text = f"""
import os, time
os.makedirs({where!r}, exist_ok=True)
with open({where!r} + "/seen", "a") as seen:
    seen.write("x")
count = len(open({where!r} + "/seen").read())
others = sum(name.isdigit() for name in os.listdir("/proc"))
if os.fork() == 0:
    os.close(1)
    time.sleep(60)
open("main.py", "w").write("x")
print(count, others < 5)
"""
    tests = [{"input": "", "output": "1 True"}] * 5
    (found,) = local.run([Job(text, tests, "stdio", timeout=8.0)])
    assert found.passed, found


def test_compiled_programs_cannot_be_written_to(needs: Callable[..., None], local: Sandbox) -> None:
    """What a program does to its own file is gone in the next job, which takes the kept one."""
    needs("c")
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main() { int n; scanf(\"%d\", &n); printf(\"%d\\n\", 2 * n); fflush(stdout);\n"
        '    if (n == 7) { unlink("main"); FILE *f = fopen("main", "w"); fputs("#!/bin/sh\\necho 666\\n", f); fclose(f); system("chmod +x main"); } }\n'
    )  # fmt: skip
    tests = [{"input": f"{n}\n", "output": f"{2 * n}\n"} for n in (7, 8)]
    first, second = (local.run([Job(text, list(some), "stdio", language="c")])[0] for some in (tests[:1], tests[1:]))
    assert first.passed, first
    assert second.passed, second
