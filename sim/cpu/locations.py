"""Source lines of program counters, from the debug information of a program."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from racetrap.sim.cpu.gnu_tools import run_tool

__all__ = ["find_locations"]


def find_locations(program: Path, pcs: Iterable[int], whole_paths: bool = False) -> dict[int, str]:
    """Source line (``"file.c:12"``) of each return address into ``program`` that has one.

    Parameters
    ----------
    program : Path
        File with debug information.
    pcs : iterable of int
        Return addresses, from the load address of the file.
    whole_paths : bool
        Whether the file comes with its folder, as the compiler knew it.
    """
    pcs = [pc for pc in pcs if pc]
    if not pcs:
        return {}
    # The call lies before its return address, which may belong to the next line.
    lines = run_tool(
        ["addr2line", *([] if whole_paths else ["-s"]), "-e", str(program)],
        "Source lines of the program cannot be read",
        given="".join(f"{pc - 1:#x}\n" for pc in pcs),
    ).splitlines()
    found = {}
    for pc, line in zip(pcs, lines, strict=True):
        place = line.split(" (discriminator")[0]
        if not place.startswith("??") and not place.endswith((":?", ":0")):
            found[pc] = place
    return found
