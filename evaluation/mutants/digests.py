"""Digests of the cases of a campaign, as they must be.

A golden model says nothing about the cycle in which something moves, nor about the order in which
equals are served.  A change that has no other effect is found by these.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

DIGESTS_FILE = Path(__file__).parent / "digests.toml"
#: Seed of the campaigns.
SEED = 1


@cache
def _kept() -> Mapping[str, tuple[int, ...]]:
    text = DIGESTS_FILE.read_text(encoding="utf-8")
    return {preset: tuple(digests) for preset, digests in tomllib.loads(text).items()}


def kept_digest(preset: str, seed: int, case: int) -> int | None:
    """Digest that a case must have; ``None`` if it is not kept."""
    digests = _kept().get(preset, ()) if seed == SEED else ()
    return digests[case] if case < len(digests) else None


def difference(preset: str, seed: int, digests: Mapping[int, int]) -> str:
    """What is wrong about the digests of cases, in a sentence; empty if nothing is, or not
    known."""
    for case, found in digests.items():
        due = kept_digest(preset, seed, case)
        if due not in (None, found):
            return (
                f"Case {case} of {preset} must have digest {due}, not {found}: something moves in "
                f"another cycle, or other words; if that is meant, {DIGESTS_FILE.name} must have "
                f"{[digests[each] for each in sorted(digests)]}"
            )
    return ""
