"""The few Linux system calls that Python does not offer. Each raises OSError with what the kernel said."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x1, 0x20, 0x1000, 0x4000, 0x40000
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

# every architecture that has Landlock uses these three numbers
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
WRITE_FILE, TRUNCATE = 1 << 1, 1 << 14
CHANGE_FOLDER = sum(1 << bit for bit in range(4, 14))  # remove, make of every kind, and rename across folders

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str = "") -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _check(_libc.mount(*words, ctypes.c_ulong(flags), data.encode() or None), f"mount {kind or 'flags'}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def prctl(option: int, value: int) -> None:
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl")


def private_mounts() -> bool:
    """Give this process, which must have one thread only, mounts that nobody else sees.

    Returns whether it took a user namespace, in which everybody keeps their own number.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        unshare(CLONE_NEWNS)
        needed_user = False
    except PermissionError:
        unshare(CLONE_NEWUSER | CLONE_NEWNS)
        needed_user = True
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    return needed_user


def forbid_writing(folder: str) -> None:
    """Make everything below `folder` read-only for this process and all that it starts, for good.

    Nothing new can be made directly in the folders above it either: Landlock can only allow, so all
    their other entries are allowed one by one. Raises OSError where the kernel has no Landlock or one
    that would forbid every rename between folders (before ABI 2).
    """
    abi = _check(_libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1), "Landlock")
    if abi < 2:
        raise OSError(f"Landlock ABI {abi} is older than 2")
    rights = WRITE_FILE | CHANGE_FOLDER | (TRUNCATE if abi >= 3 else 0)
    attributes = struct.pack("Q", rights)
    size = ctypes.c_size_t(len(attributes))
    rules = _check(_libc.syscall(LANDLOCK_CREATE_RULESET, attributes, size, 0), "Landlock rules")
    try:
        for path in _all_but(os.path.realpath(folder)):
            _allow(rules, path, rights)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        _check(_libc.syscall(LANDLOCK_RESTRICT_SELF, rules, 0), "Landlock restrict")
    finally:
        os.close(rules)


def _all_but(folder: str) -> Iterable[str]:
    """What lies beside the way from / down to `folder`."""
    while folder != "/":
        above, name = os.path.split(folder)
        for entry in os.listdir(above):
            if entry != name:
                yield os.path.join(above, entry)
        folder = above


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # what we may not even look at, the program may not write
        return
    try:
        if os.path.islink(path):
            return  # leads to a place that has its own rule
        here = rights if os.path.isdir(path) else rights & (WRITE_FILE | TRUNCATE)
        rule = struct.pack("=Qi", here, place)
        _check(_libc.syscall(LANDLOCK_ADD_RULE, rules, 1, rule, 0), f"Landlock rule for {path}")
    finally:
        os.close(place)
