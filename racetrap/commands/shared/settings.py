"""Settings of ``--set`` that say how something runs, beside those of a detector's parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from racetrap.generators.presets import with_settings
from racetrap.golden_model.sigrace.environment import ENVIRONMENTS, Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import MOST_INSTRUCTIONS, Sigrace
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem


@dataclass(frozen=True)
class PlainRun:
    """A run that has no settings."""


@dataclass(frozen=True)
class HardwareRun:
    """A run of SigRace's hardware over a recording.

    Parameters
    ----------
    environment : str
        Mapping of threads to cores.
    instruction_limit : int
        Instructions that the program of a recording may have.
    """

    environment: str = "fixed"
    instruction_limit: int = MOST_INSTRUCTIONS

    def sigrace(self, params: SigraceParams) -> Sigrace:
        """SigRace as it runs so."""
        return Sigrace(
            params, Environment(self.environment), instruction_limit=self.instruction_limit
        )


@dataclass(frozen=True)
class SigraceRun(HardwareRun):
    """A run of SigRace's golden model.

    Parameters
    ----------
    checkpoint_interval : int
        Instructions committed by one thread from one checkpoint to the next.
    unbounded : bool
        Whether it is Ideal SigRace, with queues and a conflict log without limit.
    """

    checkpoint_interval: int = 1_000_000
    unbounded: bool = False

    def sigrace(self, params: SigraceParams) -> Sigrace:
        return Sigrace(
            params, Environment(self.environment), self.checkpoint_interval, self.unbounded,
            self.instruction_limit,
        )  # fmt: skip


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
        f"Instructions that the recorded program may have.  [default: {MOST_INSTRUCTIONS}]",
    ),
)
THREAD_SETTINGS = (
    *HARDWARE_SETTINGS,
    (
        "checkpoint_interval=N",
        "Instructions committed by one thread from one checkpoint to the next.  [default: 1000000]",
    ),
    ("unbounded=true", "Ideal SigRace: queues and a conflict log without limit."),
)
MEMORY_SETTINGS = (
    ("line_bytes=N", "Bytes of a cache line.  [default: as the trace says, or 32]"),
    ("granule_bytes=N", "Bytes that are written back together.  [default: a line]"),
    ("prefetch=true|false", "Whether the cache may fill any line at any time."),
    ("uncached_snoops_cache=true|false", "Whether uncached accesses look into the cache."),
)
ACCELERATOR_SETTINGS = (
    ("mode=strict|thesis", "Byte-exact rules, or those of the thesis.  [default: strict]"),
    *MEMORY_SETTINGS,
)


def with_all_settings(settings: Iterable[str], *parts: Any) -> tuple[Any, ...]:
    """``parts``, each with those settings that are its own.

    Parameters
    ----------
    settings : iterable of str
        Changes as ``name=value``, as ``with_settings`` takes them.
    parts : dataclasses
        What is changed: parameters of a detector, and how it runs.  A name that none of them has
        is said to the first.

    Raises
    ------
    ValueError
        If a setting is malformed, unknown, given twice or out of range.
    """
    given: list[list[str]] = [[] for _ in parts]
    for setting in settings:
        name = setting.partition("=")[0]
        owners = [
            number for number, part in enumerate(parts)
            if name in {field.name for field in fields(part)}
        ]  # fmt: skip
        given[owners[0] if owners else 0].append(setting)
    return tuple(with_settings(part, own) for part, own in zip(parts, given, strict=True))


def memory_with(memory: MemorySystem, settings: Iterable[str], *parts: Any) -> tuple[Any, ...]:
    """As ``with_all_settings``; a granule is a line if only the line is given."""
    given = list(settings)
    names = {setting.partition("=")[0] for setting in given}
    if "granule_bytes" not in names:
        lines = [each for each in given if each.startswith("line_bytes=")]
        given += [each.replace("line_bytes", "granule_bytes") for each in lines]
    return with_all_settings(given, memory, *parts)
