"""A view of the user's folder in which writing changes nothing below. Runs in the supervisor only."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass

from trainsleuth.launcher import linux

_OPTIONS = {  # tried in this order; without redirect_dir a folder of the user's cannot be renamed (EXDEV)
    False: ("volatile,redirect_dir=on", "redirect_dir=on", ""),
    True: ("userxattr,volatile", "userxattr", ""),
}


@dataclass(frozen=True)
class Layer:
    """One mounted overlay: `lower` is a descriptor of the real folder, `upper` holds what was written."""

    mounted_at: str
    lower: int
    upper: str


def cover(root: str, folder: str) -> list[Layer]:
    """Put an overlay on `root`, and one on each file system mounted inside it, for us and our children.

    What is written goes below `folder`, or into memory where that file system cannot hold it. Raises
    OSError when it cannot be done or when a written file is seen to reach the real folder.
    """
    if not os.path.exists("/proc/self/mountinfo"):
        raise OSError("this system has no mount namespaces")
    needed_user = linux.private_mounts()
    places = [root, *_mounts_inside(root)]
    lowers = [os.open(place, os.O_PATH | os.O_CLOEXEC) for place in places]
    run_folder = os.open(os.path.dirname(folder), os.O_PATH | os.O_CLOEXEC)
    layers = []
    for number, (place, lower) in enumerate(zip(places, lowers, strict=True)):
        if os.path.isdir(f"/proc/self/fd/{lower}"):
            layers.append(_cover_one(place, lower, os.path.join(folder, str(number)), needed_user))
        else:
            _bind_read_only(lower, place)
    if f"{os.path.dirname(folder)}/".startswith(f"{root}/"):  # our own folder must stay a real one
        linux.mount(f"/proc/self/fd/{run_folder}", os.path.dirname(folder), None, linux.MS_BIND)
    os.close(run_folder)
    _verify(layers[0])
    return layers


def _mounts_inside(root: str) -> list[str]:
    """Mount points strictly below `root`, outer before inner."""
    found = set()
    with open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            octal = line.split()[4]
            place = os.fsdecode(re.sub(rb"\\(\d{3})", lambda code: bytes([int(code[1], 8)]), octal))
            if place.startswith(root.rstrip("/") + "/"):
                found.add(place)
    return sorted(found)


def _cover_one(place: str, lower: int, folder: str, needed_user: bool) -> Layer:
    upper, work = os.path.join(folder, "upper"), os.path.join(folder, "work")
    error: OSError | None = None
    for in_memory in (False, True):
        os.makedirs(folder, exist_ok=True)
        if in_memory:  # an overlay, NFS and some others cannot be the upper layer of an overlay
            linux.mount("tmpfs", folder, "tmpfs", 0, "mode=0700")
        for each in (upper, work):
            os.makedirs(each, exist_ok=True)
        _look_alike(upper, lower)
        for extra in _OPTIONS[needed_user]:
            try:
                _mount_overlay(place, lower, upper, work, extra)
                return Layer(place, lower, upper)
            except OSError as refused:
                error = refused
    assert error is not None
    raise error


def _mount_overlay(place: str, lower: int, upper: str, work: str, extra: str) -> None:
    """Name the layers by descriptor: no character of a path can then end an option."""
    descriptors = [os.open(each, os.O_PATH | os.O_CLOEXEC) for each in (upper, work)]
    try:
        data = "lowerdir=/proc/self/fd/{},upperdir=/proc/self/fd/{},workdir=/proc/self/fd/{}".format(
            lower, *descriptors
        )
        linux.mount("overlay", place, "overlay", 0, f"{data},{extra}".rstrip(","))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _look_alike(upper: str, lower: int) -> None:
    """The mount shows the upper folder's own mode and owner as those of the root."""
    real = os.stat(f"/proc/self/fd/{lower}")
    with suppress(PermissionError):
        os.chown(upper, real.st_uid, real.st_gid)
    os.chmod(upper, real.st_mode & 0o7777)
    os.utime(upper, ns=(real.st_atime_ns, real.st_mtime_ns))


def _bind_read_only(source: int, place: str) -> None:
    linux.mount(f"/proc/self/fd/{source}", place, None, linux.MS_BIND)
    linux.mount(None, place, None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY)


def _verify(layer: Layer) -> None:
    """Write a file through the mount and see where it went."""
    if os.stat(layer.mounted_at).st_dev == os.stat(f"/proc/self/fd/{layer.lower}").st_dev:
        raise OSError("the overlay was mounted but does not cover the folder")
    name = f".trainsleuth-{os.getpid()}"
    try:
        os.close(os.open(os.path.join(layer.mounted_at, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except PermissionError:
        return  # a folder that we may not write needs no protection
    leaked = os.path.lexists(f"/proc/self/fd/{layer.lower}/{name}")
    held = os.path.lexists(os.path.join(layer.upper, name))
    os.unlink(os.path.join(layer.mounted_at, name))
    if leaked or not held:
        raise OSError("a file written through the overlay reached the real folder")
