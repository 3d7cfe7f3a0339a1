"""Options for the memory system of a CPU with accelerators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from racetrap.golden_model.trace.noncoherent.operations import MemorySystem

#: Parameters that ``memory_options`` gives a command.
MEMORY_OPTIONS = ("line", "granule", "prefetch", "snooping")


def memory_options(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that describe the hardware; ``default`` says what holds without them."""
    options = (
        click.option(
            "--line", type=int, metavar="BYTES", help=f"Bytes of a cache line.  [{default} 32]"
        ),
        click.option(
            "--granule", type=int, metavar="BYTES",
            help="Bytes that are written back together.  [default: a line]",
        ),
        click.option(
            "--prefetch/--no-prefetch", default=None,
            help="Whether the cache may fill any line at any time.",
        ),
        click.option(
            "--snooping/--no-snooping", default=None,
            help="Whether uncached accesses look into the cache.",
        ),
    )  # fmt: skip

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def memory_with(
    memory: MemorySystem, line: int | None, granule: int | None, prefetch: bool | None,
    snooping: bool | None,
) -> MemorySystem:  # fmt: skip
    """``memory`` with what the options say; a granule is a line if only the line is given.

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    if granule is None:
        granule = line
    changes: dict[str, Any] = {
        "line_bytes": line, "granule_bytes": granule, "prefetch": prefetch,
        "uncached_snoops_cache": snooping,
    }  # fmt: skip
    return replace(memory, **{name: value for name, value in changes.items() if value is not None})
