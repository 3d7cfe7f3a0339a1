"""Compiled scoreboard of a launch, which only decides whether everything agrees.

It needs all transactions before the first step.  ``racetrap.sim.cosim.scord.scoreboard``, which has
the same rules as this and the golden model, then names a difference.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import CDLL, byref, c_bool, c_int64, c_uint32, c_uint64, c_void_p
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.gpu.valid_table import is_written
from racetrap.golden_model.scord.detector_bank import COUNTERS, Counted
from racetrap.golden_model.scord.packets import Packet, Step
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import nested, unpack_column, unpack_records
from racetrap.sim.cosim.gpu.report_check import ReportCheck
from racetrap.sim.cosim.gpu.tile_places import TilePlaces
from racetrap.sim.cosim.scord.compiled_settings import (
    SCORD_TWINS,
    regions_of_launch,
    settings_of,
)

_FOLDER = Path(__file__).parent / "compiled"
_OPTIONS = ("-std=c++20", "-O3")
_FUNCTIONS: Functions = {
    "racetrap_scord_new": (c_void_p, [c_void_p, c_void_p, c_uint64]),
    "racetrap_scord_delete": (None, [c_void_p]),
    "racetrap_scord_transactions": (
        c_bool, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p, c_void_p],
    ),
    "racetrap_scord_absent": (None, [c_void_p, c_uint32]),
    "racetrap_scord_due": (None, [c_void_p, c_void_p]),
    "racetrap_scord_take": (c_int64, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p]),
    "racetrap_scord_left_out": (c_uint64, [c_void_p]),
    "racetrap_scord_entries": (None, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "racetrap_scord_written": (c_uint64, [c_void_p, c_void_p, c_uint64]),
}  # fmt: skip


@cache
def prepare_scoreboard() -> CDLL:
    """The compiled scoreboard, compiled and loaded on the first call."""
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h")])
    return compiled_library("scord", sources, _OPTIONS, _FUNCTIONS, SCORD_TWINS)


class CompiledScoreboard:
    """Checks one kernel launch; make a new one for each.

    A method that returns False has found a difference; the object is then unusable.

    Parameters
    ----------
    params : ScordParams
        Configuration of the hardware.
    region : MonitoredRegion
        Monitored region of the launch.
    places : TilePlaces or None
        Tiles that are there; None: all.

    Raises
    ------
    Failure
        If the library cannot be compiled.
    ValueError
        If the region cannot be used with the parameters.
    """

    def __init__(
        self, params: ScordParams, region: MonitoredRegion, places: TilePlaces | None = None
    ) -> None:  # fmt: skip
        region.check(params)
        self._params, self._region = params, region
        self._reports = ReportCheck(params, RaceReport)
        self._counted = dict.fromkeys(COUNTERS, 0)
        self._library = prepare_scoreboard()
        rows = regions_of_launch(params, region)
        self._board = self._library.racetrap_scord_new(
            byref(settings_of(params, region)), rows.ctypes.data, len(rows)
        )
        for bank in set(range(params.banks)) - (places.banks if places else {*range(params.banks)}):
            self._library.racetrap_scord_absent(self._board, bank)

    def close(self) -> None:
        """Free the scoreboard."""
        self._library.racetrap_scord_delete(self._board)
        self._board = None

    def transactions(
        self, sm: int, words: NDArray[np.uint32], left_out: Sequence[bool] | None = None
    ) -> NDArray[np.uint32] | None:
        """Accept all transactions of SM ``sm``; their packets are now due.

        Parameters
        ----------
        sm : int
            SM.
        words : array of uint32
            Its transactions, a row each.
        left_out : sequence of bool or None
            For each, whether the hardware skips it; None if unknown.

        Returns
        -------
        array of uint32 or None
            Steps of each, over all banks; None if the hardware wrongly skips or takes one.
        """
        steps = np.zeros(len(words), dtype=np.uint32)
        flags = None if left_out is None else np.array(left_out, dtype=np.uint8)
        agree = self._library.racetrap_scord_transactions(
            self._board, sm, np.ascontiguousarray(words).ctypes.data, len(words),
            None if flags is None else flags.ctypes.data, steps.ctypes.data,
        )  # fmt: skip
        return steps if agree else None

    @property
    def due(self) -> list[int]:
        """Steps still to come, by bank."""
        steps = np.zeros(self._params.banks, dtype=np.uint64)
        self._library.racetrap_scord_due(self._board, steps.ctypes.data)
        return steps.tolist()

    def take(self, bank: int, words: NDArray[np.uint32]) -> bool:
        """Compare the steps of a bank, every bit of them.

        Parameters
        ----------
        bank : int
            Bank.
        words : array of uint32
            Steps in the bank's order, a row each.
        """
        races = np.zeros(len(words), dtype=np.uint64)
        found = self._library.racetrap_scord_take(
            self._board, bank, np.ascontiguousarray(words).ctypes.data, len(words),
            races.ctypes.data,
        )  # fmt: skip
        if found >= 0:
            step = Counted(*(self._column(words, name) for name in Counted._fields))
            for name, counts in COUNTERS.items():
                self._counted[name] += int(np.count_nonzero(counts(step)))
        if found > 0:
            columns = unpack_records(self._params.step_layout, words[races[:found].astype(int)])
            for step in map(nested(Step, Packet), *columns):
                self._reports.race(bank, step)
        return found >= 0

    def _column(self, words: NDArray[np.uint32], field: str) -> NDArray[np.uint64]:
        layout = self._params.step_layout
        name = f"packet.{field}" if field in Packet._fields else field
        return unpack_column(layout, words, name)

    @property
    def counters(self) -> dict[str, int]:
        """Expected event counters of the hardware, by register name in lower case."""
        if not self._params.leaves_out:
            return dict(self._counted)
        left_out = self._library.racetrap_scord_left_out(self._board)
        return {**self._counted, "accesses_left_out": left_out}

    def finish(
        self,
        counters: Mapping[str, int],
        reports: Sequence[int],
        memory: Callable[[NDArray[np.uint64]], NDArray[np.uint64]] | None,
        read_errors: int,
        reached: Sequence[int] | None,
    ) -> bool:
        """End of the launch: return whether nothing is left over and the sums agree.

        Parameters
        ----------
        counters, read_errors, reached
            As of ``Scoreboard.finish``.
        reports : sequence of int
            Records in the ring buffer, oldest first.
        memory : callable or None
            Metadata entries in memory by their indices.
        """
        own = self.counters
        words = self._params.words_per_cycle
        if any(self.due) or any(counters[name] != value for name, value in own.items()):
            return False
        if not read_errors <= own["metadata_read_errors"] <= words * read_errors:
            return False
        for each in reports:
            self._reports.record(each)
        try:
            self._reports.finish(counters)
        except Mismatch:
            return False
        return memory is None or self._is_memory_right(memory, reached)

    def _is_memory_right(
        self,
        memory: Callable[[NDArray[np.uint64]], NDArray[np.uint64]],
        reached: Sequence[int] | None,
    ) -> bool:
        if reached is None:
            indices = np.fromiter(self._region.indices(self._params), dtype=np.uint64)
        else:
            indices = np.union1d(np.array(reached, dtype=np.uint64), self._written)
        golden = np.zeros(len(indices), dtype=np.uint64)
        self._library.racetrap_scord_entries(
            self._board, indices.ctypes.data, len(indices), golden.ctypes.data
        )
        differing = indices[memory(indices) != golden].tolist()
        if not self._params.valid_segments or not differing:
            return not differing
        claimed = set((self._written // np.uint64(self._params.words_per_cycle)).tolist())
        return not any(
            is_written(self._params, self._region, index, claimed) for index in differing
        )

    @property
    def _written(self) -> NDArray[np.uint64]:
        """Indices of the entries written by accesses."""
        count = self._library.racetrap_scord_written(self._board, None, 0)
        indices = np.zeros(count, dtype=np.uint64)
        self._library.racetrap_scord_written(self._board, indices.ctypes.data, count)
        return indices
