"""Source lines of program counters, from the debug information of a program."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

__all__ = ["find_locations"]


def find_locations(program: Path, pcs: Iterable[int]) -> dict[int, str]:
    """Source line (``"file.c:12"``) of each return address into ``program`` that has one."""
    pcs = [pc for pc in pcs if pc]
    if not pcs:
        return {}
    # The call lies before its return address, which may belong to the next line.
    lines = subprocess.run(
        ["addr2line", "-s", "-e", str(program)],
        input="".join(f"{pc - 1:#x}\n" for pc in pcs),
        stdout=subprocess.PIPE, text=True, errors="replace", check=True,
    ).stdout.splitlines()  # fmt: skip
    found = {}
    for pc, line in zip(pcs, lines, strict=True):
        place = line.split(" (discriminator")[0]
        if not place.startswith("??") and not place.endswith((":?", ":0")):
            found[pc] = place
    return found
