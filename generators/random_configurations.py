"""Configurations drawn at random, for looking where no preset does.

Each parameter is drawn from its own list, in which 1, 2^n - 1, 2^n and 2^n + 1 are well
represented; a draw that breaks a rule between parameters is drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from racetrap.golden_model.noncoherent.params import Mode, NoncoherentParams
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.golden_model.sigrace.params import Form, SigraceParams

__all__ = ["random_noncoherent", "random_scord", "random_sigrace"]

_Params = TypeVar("_Params", ScordParams, SigraceParams, NoncoherentParams)

_SCORD: dict[str, Sequence[Any]] = {
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
    "banks": (1, 2, 3, 4, 5, 6, 8, 8, 12, 24),
    "words_per_cycle": (1, 1, 2, 4, 8, 8),
    "fence_lanes": (1, 1, 2, 4),
    "outstanding": (4, 8, 16, 64),
    "packet_fifo_depth": (2, 3, 4, 5, 8),
    "report_fifo_depth": (2, 3, 4, 5, 16),
    "report_filter_entries": (2, 4, 64),
    "access_buffer_depth": (0, 0, 0, 1, 2, 8),
    "access_policy": (AccessPolicy.STALL, *AccessPolicy),
    "sample_log2": (0, 0, 0, 1, 3),
    "local_bytes": (0, 0, 0, 4096),
    "merge_in_flight": (True, True, True, False),
    "regions": (1, 1, 1, 2, 3, 8),
    "valid_segments": (0, 0, 0, 64, 128, 1024),
}


_SIGRACE: dict[str, Sequence[Any]] = {
    "cores": (1, 2, 3, 4, 5),
    "contexts": (1, 1, 2, 3),
    "threads": (1, 2, 3, 4, 5, 7, 8, 9),
    "lsb_bits": (4, 8, 9, 10, 12, 16),
    "filters": (2, 4, 8, 16),
    "filter_bits": (16, 32, 64, 256),
    "one_hot_lsb": (False, False, True),
    "form": tuple(Form),
    "usb_limit": (1, 2, 3, 4, 5, 24),
    "block_instructions": (1, 7, 8, 9, 100, 2000),
    "history_depth": (1, 2, 3, 4, 5, 16),
    "timestamp_bits": (2, 3, 4, 20, 32),
    "sequence_bits": (2, 3, 8),
    "log_depth": (1, 2, 3, 4, 5),
    "log_blocks": (1, 2, 8),
    "trap_depth": (1, 2, 3, 4, 5),
    "link_depth": (2, 3, 4, 5, 32),
    "pc_bits": (8, 20, 32),
}


_NONCOHERENT: dict[str, Sequence[Any]] = {
    "mode": (Mode.STRICT, Mode.STRICT, Mode.THESIS),
    "line_bytes": (1, 2, 4, 8, 32, 64),
    "granule_bytes": (1, 2, 4, 8, 32),
    "engines": (1, 2, 3, 4, 5),
    "prefetch": (False, True),
    "uncached_snoops_cache": (False, False, True),
    "entries": (2, 3, 4, 5, 7, 8, 9),
    "address_bits": (16, 17, 31, 32, 33, 48),
    "tag_bits": (4, 8, 32),
    "report_fifo_depth": (1, 2, 3, 4, 16),
    "window_bytes": (0, 0, 0, 0, 128, 4096, 1 << 16),
    "window_base": (0, 0, 1024),
}


def _draw(kind: type[_Params], choices: Mapping[str, Sequence[Any]], number: int) -> _Params:
    random = Random(f"configuration {number}")
    while True:
        drawn: dict[str, Any] = {name: random.choice(some) for name, some in choices.items()}
        try:
            return kind(**drawn)
        except ValueError:
            continue


def random_scord(number: int) -> ScordParams:
    """Configuration ``number`` of ScoRD: always the same one for a number."""
    return _draw(ScordParams, _SCORD, number)


def random_sigrace(number: int) -> SigraceParams:
    """Configuration ``number`` of SigRace: always the same one for a number."""
    return _draw(SigraceParams, _SIGRACE, number)


def random_noncoherent(number: int) -> NoncoherentParams:
    """Configuration ``number`` of the bus monitor: always the same one for a number."""
    return _draw(NoncoherentParams, _NONCOHERENT, number)
