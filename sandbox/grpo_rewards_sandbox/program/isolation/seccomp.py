"""A seccomp filter for candidates: a list of refused system calls, and sockets of one family only."""

from __future__ import annotations

import ctypes
import struct

from .syscalls import MACHINE, PR_SET_SECCOMP, check, libc

# name: (x86_64, aarch64). Refused with EPERM: ways into other processes, namespaces, kernel subsystems with a long
# history of holes, shared memory that outlives a process or escapes every memory limit, and clocks.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "delete_module": (176, 106), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "get_mempolicy": (239, 236), "get_thread_area": (211, None),
    "init_module": (175, 105), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425), "ioperm": (173, None), "iopl": (172, None), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444), "landlock_restrict_self": (446, 446), "lookup_dcookie": (212, 18),
    "lsm_get_self_attr": (459, 459), "lsm_list_modules": (461, 461), "lsm_set_self_attr": (460, 460),
    "listmount": (458, 458), "mbind": (237, 235), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "migrate_pages": (256, 238), "mknod": (133, None), "mknodat": (259, 33), "modify_ldt": (154, None),
    "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 239),
    "mq_getsetattr": (245, 185), "mq_notify": (244, 184), "mq_open": (240, 180), "mq_timedreceive": (243, 183),
    "mq_timedsend": (242, 182), "mq_unlink": (241, 181), "msgctl": (71, 187), "msgget": (68, 186),
    "msgrcv": (70, 188), "msgsnd": (69, 189), "name_to_handle_at": (303, 264), "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434),
    "pivot_root": (155, 41), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "reboot": (169, 142), "request_key": (249, 218), "semctl": (66, 191),
    "semget": (64, 190), "semop": (65, 193), "semtimedop": (220, 192), "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450), "set_thread_area": (205, None), "setdomainname": (171, 162),
    "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170), "shmat": (30, 196),
    "shmctl": (31, 195), "shmdt": (67, 197), "shmget": (29, 194), "statmount": (457, 457), "swapoff": (168, 225),
    "swapon": (167, 224), "sysctl": (156, None), "sysfs": (139, None), "syslog": (103, 116), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282), "vhangup": (153, 58),
}  # fmt: skip
_CALLS = {
    "x86_64": {"clone": 56, "clone3": 435, "socket": 41, "kill": 62, "tgkill": 234, "fork": 57, "vfork": 58},
    "aarch64": {"clone": 220, "clone3": 435, "socket": 198, "kill": 129, "tgkill": 131},
}
# what else reaches the other processes of the same user
_ON_OTHERS = {
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "setpriority": (141, 140), "ioprio_set": (251, 30),
}  # fmt: skip
_LINKS = {"symlink": (88, None), "symlinkat": (266, 36)}
# their first argument is a process, 0 = this one
_ON_ONE = {
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
}  # fmt: skip
# their second argument names who is sent the signals of a file: F_SETOWN, F_SETOWN_EX; FIOSETOWN, SIOCSPGRP
_SET_OWNER = {"fcntl": ((72, 25), (8, 15)), "ioctl": ((16, 29), (0x8901, 0x8902))}
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER, _ARCHITECTURE, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24
# calls of the x32 ABI have numbers with this bit, by which no list here would know them
_X32_BIT = 0x40000000
# each CLONE_NEW flag; 0x80 is CLONE_NEWTIME
_NAMESPACE_FLAGS = 0x7E020000 | 0x80
_CLONE_THREAD = 0x00010000
_AF_UNIX = 1
_SET_LEASE = 1024  # of fcntl: who opens the file waits for the one who holds the lease
_MODE_FILTER = 2
_LEAF = 4  # numbers compared one by one at the end of a search


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Filter:
    """A program as the kernel takes it, laid out once: a child that did it would copy the pages it touches."""

    def __init__(self, code: bytes) -> None:
        self._code = ctypes.create_string_buffer(code, len(code))
        self._program = _Program(len(code) // 8, ctypes.addressof(self._code))
        self.reference = ctypes.byref(self._program)


def supported() -> bool:
    """The call numbers of this machine are known."""
    return MACHINE in _AUDIT


def build(*, unix_sockets: bool = True, alone_as: int | None = None, links: bool = True) -> Filter:
    """Return the filter. `links`: it may make symbolic links.

    `alone_as`: the process's own pid, where neither another user nor a pid namespace keeps it apart. Then it may start
    no process, and send signals to, limit and schedule itself only.
    """

    def instruction(code: int, when_true: int, when_false: int, value: int) -> bytes:
        return struct.pack("HBBI", code, when_true, when_false, value)

    def refuse(error: int) -> bytes:
        return instruction(_RETURN, 0, 0, _ERRNO | error)

    column = 0 if MACHINE == "x86_64" else 1
    calls = _CALLS[MACHINE]
    program = [
        instruction(_LOAD, 0, 0, _ARCHITECTURE),
        # calls of another architecture, as of 32 bits by int 0x80, have other numbers
        instruction(_JUMP_EQUAL, 1, 0, _AUDIT[MACHINE]),
        instruction(_RETURN, 0, 0, _KILL),
        instruction(_LOAD, 0, 0, _NUMBER),
    ]
    if MACHINE == "x86_64":
        program += [instruction(_JUMP_AT_LEAST, 0, 1, _X32_BIT), refuse(_EPERM)]
    refused = [pair[column] for pair in (*REFUSED.values(), *(() if links else _LINKS.values()))]
    if alone_as is not None:
        refused += [pair[column] for pair in _ON_OTHERS.values()]
        refused += [calls[name] for name in ("fork", "vfork") if name in calls]

    def look(call: int, argument: int, compare: int, *values: int, refused: bool = False, error: int = _EPERM) -> None:
        """Allow a call only where its argument compares with one of the values; where `refused`, only where it does not."""
        last = len(values) - 1
        program.append(instruction(_JUMP_EQUAL, 0, last + 4, call))
        program.append(instruction(_LOAD, 0, 0, argument))
        for at, value in enumerate(values):
            ahead = last - at  # comparisons that are left; behind them stands the refusal
            program.append(instruction(compare, ahead + (not refused), refused and not ahead, value))
        program.append(refuse(error))
        program.append(instruction(_LOAD, 0, 0, _NUMBER))

    # clone3 hides its flags behind a pointer; without it libc falls back to clone, whose flags can be seen
    program += [instruction(_JUMP_EQUAL, 0, 1, calls["clone3"]), refuse(_ENOSYS)]
    look(calls["clone"], _ARGUMENT_0, _JUMP_SET, _NAMESPACE_FLAGS, refused=True)
    look(_SET_OWNER["fcntl"][0][column], _ARGUMENT_1, _JUMP_EQUAL, _SET_LEASE, refused=True)
    if alone_as is not None:
        look(calls["clone"], _ARGUMENT_0, _JUMP_SET, _CLONE_THREAD)
        for name in ("kill", "tgkill"):
            look(calls[name], _ARGUMENT_0, _JUMP_EQUAL, alone_as)
        for numbers in _ON_ONE.values():
            look(numbers[column], _ARGUMENT_0, _JUMP_EQUAL, alone_as, 0)
        for numbers, asked in _SET_OWNER.values():
            look(numbers[column], _ARGUMENT_1, _JUMP_EQUAL, *asked, refused=True)
    if unix_sockets:
        look(calls["socket"], _ARGUMENT_0, _JUMP_EQUAL, _AF_UNIX, error=_EAFNOSUPPORT)
    else:
        program += [instruction(_JUMP_EQUAL, 0, 1, calls["socket"]), refuse(_EAFNOSUPPORT)]

    def search(numbers: list[int]) -> list[bytes]:
        # the kernel tries a filter on every call number when it is set, which is once a job: a tree is what is quick
        if len(numbers) <= _LEAF:
            equal = [instruction(_JUMP_EQUAL, len(numbers) - at, 0, one) for at, one in enumerate(numbers)]
            return [*equal, instruction(_RETURN, 0, 0, _ALLOW), refuse(_EPERM)]
        middle = len(numbers) // 2
        low, high = search(numbers[:middle]), search(numbers[middle:])
        return [instruction(_JUMP_AT_LEAST, len(low), 0, numbers[middle]), *low, *high]

    program += search(sorted({number for number in refused if number is not None}))
    return Filter(b"".join(program))


def apply(program: Filter) -> None:
    """Put the filter on this process and all it starts; needs no_new_privs."""
    check(libc.prctl(PR_SET_SECCOMP, _MODE_FILTER, program.reference, 0, 0), "seccomp")
