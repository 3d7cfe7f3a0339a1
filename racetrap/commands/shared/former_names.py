"""Names that options had once, and what stands for them now."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click

_FILE = "--output FILE{}, by the end of the file's name"
_ARGUMENT = "an argument without an option"

#: Former options of any command, with what is written instead.
_SUCCESSORS: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(("-q", "--quiet"), "an option before the command: racetrap --quiet COMMAND"),
    **dict.fromkeys(("--volume", "--inputs", "--runs", "--traces"), "--budget"),
    **dict.fromkeys(("--program", "--workload", "--reader"), _ARGUMENT),
    **dict.fromkeys(("--fixpoint", "--original-size", "--monitor", "--cycles"), "a word of --also"),
    "--preset": f"--detector, or {_ARGUMENT}",
    "--system": f"--detector, or {_ARGUMENT}",
    "--html": _FILE.format(".html"),
    "--timings": "--schedules",
    "--right-only": "--race-free",
    "--device": "--family FAMILY:DEVICE",
    "--scheduler": "--jobs ADDRESS",
    "--keep": "--output",
    "--old": "the argument `old`",
    "--sweeps": "the argument `all`",
})  # fmt: skip


def successor(option: str) -> str | None:
    """What is written instead of a former option; ``None`` if it has never been one."""
    return _SUCCESSORS.get(option)


def no_such_option(error: click.NoSuchOption) -> str:
    """The sentence for an option that a command does not have."""
    instead = successor(error.option_name)
    if instead is None or instead in (error.possibilities or ()):
        return error.format_message()
    return f"No such option '{error.option_name}', which is now {instead}."
