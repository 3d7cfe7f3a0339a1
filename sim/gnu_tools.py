"""GNU compilers and binary utilities, run as processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
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
        Sentence for the case that it fails; its output follows.
    given : str
        Its standard input.
    error : type
        Error to raise if it is missing or fails.
    folder : Path or None
        Where it is run; None: in the working folder.
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
