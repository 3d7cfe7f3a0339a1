"""Cycles of the cases of a campaign, as they must be.

A golden model says nothing about cycles, so that a change which makes the design slower alone is
found by these.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

CYCLES_FILE = Path(__file__).parent / "cycles.toml"
#: Seed of the campaigns.
SEED = 1


@cache
def _kept() -> Mapping[str, tuple[int, ...]]:
    text = CYCLES_FILE.read_text(encoding="utf-8")
    return {preset: tuple(cycles) for preset, cycles in tomllib.loads(text).items()}


def kept_cycles(preset: str, seed: int, case: int) -> int | None:
    """Cycles that a case must take; ``None`` if they are not kept."""
    cycles = _kept().get(preset, ()) if seed == SEED else ()
    return cycles[case] if case < len(cycles) else None


def difference(preset: str, seed: int, cycles: Mapping[int, int]) -> str:
    """What is wrong about the cycles of cases, in a sentence; empty if nothing is, or not known."""
    for case, found in cycles.items():
        due = kept_cycles(preset, seed, case)
        if due not in (None, found):
            return (
                f"Case {case} of {preset} must take {due} cycles, not {found}; if that is meant, "
                f"{CYCLES_FILE.name} must have {[cycles[each] for each in sorted(cycles)]}"
            )
    return ""
