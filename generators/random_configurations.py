"""Configurations drawn at random, for looking where no preset does.

Each parameter is drawn from its own list, in which 1, 2^n - 1, 2^n and 2^n + 1 are well
represented; a draw that breaks a rule between parameters is drawn again.
"""

from __future__ import annotations

from random import Random
from typing import Any

from racetrap.golden_model.scord.params import ScordParams

__all__ = ["random_configuration"]

_CHOICES: dict[str, tuple[int, ...]] = {
    "sm_count": (1, 2, 3, 4, 5, 7, 8, 9),
    "blocks_per_sm": (1, 2, 3, 4, 5, 7, 8, 9),
    "warps_per_sm": (1, 2, 3, 4, 5, 7, 8, 9, 31, 32),
    "granularity": (4, 8, 16),
    "ratio": (1, 2, 4, 16, 64),
    "lock_table_depth": (1, 2, 3, 4, 5, 7),
    "fence_id_bits": (2, 3, 6, 9),
    "barrier_id_bits": (2, 5, 8),
    "address_bits": (32, 40, 48, 64),
    "pc_bits": (16, 20, 32),
    "banks": (1, 2, 4, 8),
    "outstanding": (4, 8, 16, 64),
    "packet_fifo_depth": (2, 3, 4, 5, 8),
    "report_fifo_depth": (2, 3, 4, 5, 16),
    "report_filter_entries": (2, 4, 64),
    "local_bytes": (0, 0, 0, 4096),
}


def random_configuration(number: int) -> ScordParams:
    """Configuration ``number``: always the same one for a number."""
    random = Random(f"configuration {number}")
    while True:
        drawn: dict[str, Any] = {name: random.choice(some) for name, some in _CHOICES.items()}
        try:
            return ScordParams(**drawn)
        except ValueError:
            continue
