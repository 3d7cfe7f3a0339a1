"""GNU compilers and binary utilities, run as processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from racetrap.sim.failure import Failure
from racetrap.sim.tools import not_found

_SHOWN_CHARACTERS = 4000


def run_tool(
    command: Sequence[str],
    failure: str,
    given: str = "",
    error: type[Exception] = Failure,
    folder: Path | None = None,
) -> str:
    """Standard output of a tool.

    Parameters
    ----------
    command : sequence of str
        The tool and its arguments.
    failure : str
        Sentence for a failure; its output follows.
    given : str
        Its standard input.
    error : type
        Error to raise if it is missing or fails.
    folder : Path or None
        Folder to run it in; None: the working folder.
    """
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, errors="replace", check=False,
            env=os.environ | {"LC_ALL": "C.UTF-8"}, cwd=folder,
        )  # fmt: skip
    except FileNotFoundError:
        raise error(not_found(command[0])) from None
    if done.returncode:
        output = (done.stdout + done.stderr).rstrip()
        raise error(f"{failure}:\n{output[:_SHOWN_CHARACTERS]}")
    return done.stdout


def source_lines(
    file: Path, offsets: Mapping[int, int], *, whole_paths: bool = False,
    error: type[Exception] = Failure,
) -> dict[int, str]:  # fmt: skip
    """Source line (``"file.c:12"``) of each return address that has one, by debug information.

    Parameters
    ----------
    file : Path
        Program or library.
    offsets : mapping of int to int
        Place in the file of each return address.
    whole_paths : bool
        Whether a source file comes with its folder, as the compiler knew it.
    error : type
        As of ``run_tool``.
    """
    known = _known_lines(file, file.stat().st_mtime_ns if file.is_file() else 0, whole_paths)
    asked = [offset for offset in offsets.values() if offset not in known]
    if asked:
        # The call lies before its return address, which may belong to the next line.
        lines = run_tool(
            ["addr2line", *([] if whole_paths else ["-s"]), "-e", str(file)],
            "Source lines of the program cannot be read",
            given="".join(f"{offset - 1:#x}\n" for offset in asked),
            error=error,
        ).splitlines()
        known.update(zip(asked, (line.split(" (discriminator")[0] for line in lines), strict=True))
    places = {address: known[offset] for address, offset in offsets.items()}
    return {
        address: place for address, place in places.items()
        if not place.startswith("??") and not place.endswith((":?", ":0"))
    }  # fmt: skip


@lru_cache(maxsize=8)
def _known_lines(file: Path, changed: int, whole_paths: bool) -> dict[int, str]:
    """Answers for a file that has not changed since: recordings share libraries."""
    return {}
