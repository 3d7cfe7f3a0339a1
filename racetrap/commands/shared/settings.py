"""Settings of ``--set`` that say how something runs, beside those of a detector's parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from racetrap.generators.presets import with_all_settings
from racetrap.golden_model.sigrace.conflict_log import RollbackWhen
from racetrap.golden_model.sigrace.environment import ENVIRONMENTS
from racetrap.golden_model.sigrace.sigrace import MOST_INSTRUCTIONS
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem


@dataclass(frozen=True)
class PlainRun:
    """A run that has no settings."""


@dataclass(frozen=True)
class AcceleratorRun:
    """A run of the rules for accelerators.

    Parameters
    ----------
    mode : str
        Name of the rules.
    """

    mode: str = "strict"


HARDWARE_SETTINGS = (
    ("environment=NAME", f"Mapping of threads to cores: {', '.join(ENVIRONMENTS)}."),
    (
        "instruction_limit=N",
        f"Maximum number of instructions of the recorded program.  [default: {MOST_INSTRUCTIONS}]",
    ),
)
THREAD_SETTINGS = (
    *HARDWARE_SETTINGS,
    (
        "checkpoint_interval=N",
        "Instructions that a thread commits between two checkpoints.  [default: 1000000]",
    ),
    ("unbounded=true", "Ideal SigRace: unlimited queues and an unlimited conflict log."),
    (
        "rollback_when=NAME",
        f"Requests for a rollback that software answers before the next checkpoint: "
        f"{', '.join(RollbackWhen)}.  [default: blocks]",
    ),
    (
        "ring_depth=N",
        "Entries of each core's ring of addresses, with which conflicts are confirmed before a "
        "rollback.  [default: 0, none]",
    ),
)
MEMORY_SETTINGS = (
    ("line_bytes=N", "Bytes of a cache line.  [default: as the trace says, or 32]"),
    ("granule_bytes=N", "Bytes that are written back together.  [default: a line]"),
    ("prefetch=true|false", "Whether the cache may fill any line at any time."),
    ("uncached_snoops_cache=true|false", "Whether uncached accesses snoop the cache."),
    ("write_through=true|false", "Whether cached writes go to memory at once: no line is dirty."),
)
ACCELERATOR_SETTINGS = (
    ("mode=strict|thesis", "Byte-exact rules, or those of the thesis.  [default: strict]"),
    *MEMORY_SETTINGS,
)


def memory_with(memory: MemorySystem, settings: Iterable[str], *parts: Any) -> tuple[Any, ...]:
    """As ``with_all_settings``; a granule is a line if only the line is given."""
    given = list(settings)
    names = {setting.partition("=")[0] for setting in given}
    if "granule_bytes" not in names:
        lines = [each for each in given if each.startswith("line_bytes=")]
        given += [each.replace("line_bytes", "granule_bytes") for each in lines]
    return with_all_settings(given, memory, *parts)
