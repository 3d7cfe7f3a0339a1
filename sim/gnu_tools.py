"""GNU compilers and binary utilities, run as processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from racetrap.sim.failure import Failure
from racetrap.sim.tools import not_found

__all__ = ["run_tool"]

_SHOWN_CHARACTERS = 4000


def run_tool(
    command: Sequence[str], failure: str, given: str = "", error: type[Exception] = Failure
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
    """
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, errors="replace", check=False,
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    except FileNotFoundError:
        raise error(not_found(command[0])) from None
    if done.returncode:
        output = (done.stdout + done.stderr).rstrip()
        raise error(f"{failure}:\n{output[:_SHOWN_CHARACTERS]}")
    return done.stdout
