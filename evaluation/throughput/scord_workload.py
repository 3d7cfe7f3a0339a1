"""Random workload for ScoRD: transactions of all SMs of the paper's configuration.

Ref: ScoRD (ISCA'20) Table V (the GPU simulated).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.golden_model.scord.tracker import Tracker
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.scord.batch_scoreboard import BatchScoreboard
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of

__all__ = ["ScordWorkload"]

_KNOBS = "streaming"
_REGION = Region(size_log2=17, metadata_base=1 << 20)


class ScordWorkload:
    """As ``speed.Workload``; a size is a number of instructions."""

    sizes: ClassVar[tuple[int, int]] = (8000, 400)

    def __init__(self, model: FastModel[ScordParams], seed: int, size: int) -> None:
        self._model, self._params = model, model.params
        events = random_events(self._params, _REGION, KNOBS[_KNOBS], seed, size)
        self._traffic = list(transactions_of(events, self._params))
        self._queues: list[list[Transaction]] = [[] for _ in range(self._params.sm_count)]
        board = BatchScoreboard(self._params, _REGION)
        for sm, transaction in self._traffic:
            self._queues[sm].append(transaction)
            board.transaction(sm, transaction)
        self._due = board.due
        with FastSim(model) as sim:
            self.volume = check_launch(sim, self._params, _REGION, self._traffic).accesses

    def golden(self) -> float:
        trackers = [Tracker(self._params, sm) for sm in range(self._params.sm_count)]
        bank = DetectorBank(self._params, _REGION)
        with garbage_collection_paused():
            started = time.process_time()
            for sm, transaction in self._traffic:
                for packet in trackers[sm].step(transaction):
                    bank.step(packet)
            return time.process_time() - started

    def hardware(self) -> float:
        with FastSim(self._model) as sim:
            sim.launch(_REGION)
            started = time.process_time()
            sim.run(self._queues, self._due)
            return time.process_time() - started

    def together(self) -> float:
        with FastSim(self._model) as sim:
            started = time.process_time()
            check_launch(sim, self._params, _REGION, self._traffic)
            return time.process_time() - started

    @staticmethod
    def plan(size: int) -> dict[str, Any]:
        launch = {"knobs": _KNOBS, "instructions": size}
        return {"region": asdict(_REGION), "launches": [launch]}

    @staticmethod
    def volume_of(note: Mapping[str, Any]) -> int | None:
        return note["counters"]["accesses"] if "launch" in note else None
