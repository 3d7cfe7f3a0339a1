"""Workloads for ScoRD: transactions of all SMs, drawn at random or of whole lines.

Ref: ScoRD (ISCA'20) Table V (the GPU simulated).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.gpu.params import LINE_BYTES, WORDS_PER_LINE
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.tracker import Tracker
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of

_KNOBS = "streaming"
_REGION = Region(size_log2=17, metadata_base=1 << 20)
_ALL_WORDS = (1 << WORDS_PER_LINE) - 1


class ScordWorkload:
    """As ``speed.Workload``; a size is a number of instructions."""

    sizes: ClassVar[tuple[int, int]] = (32_000, 400)

    def __init__(self, model: FastModel[ScordParams], seed: int, size: int) -> None:
        self._model, self._params = model, model.params
        self._traffic = self._draw(seed, size)
        with FastSim(model) as sim:
            result = check_launch(sim, self._params, _REGION, self._traffic)
        self.volume, self._steps = result.accesses, result.steps

    def _draw(self, seed: int, size: int) -> list[tuple[int, Transaction]]:
        events = random_events(self._params, _REGION, KNOBS[_KNOBS], seed, size)
        return list(transactions_of(events, self._params))

    def golden(self) -> float:
        trackers = [Tracker(self._params, sm) for sm in range(self._params.sm_count)]
        banks = [DetectorBank(self._params, _REGION, bank) for bank in range(self._params.banks)]
        with garbage_collection_paused():
            started = time.process_time()
            for sm, transaction in self._traffic:
                for packet in trackers[sm].step(transaction):
                    for bank in banks_of(self._params, packet):
                        banks[bank].step(packet)
            return time.process_time() - started

    def hardware(self) -> float:
        with FastSim(self._model) as sim:
            sim.launch(_REGION)
            queues = sim.queues(self._traffic)
            started = time.process_time()
            sim.run(queues, [self._steps])
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


class LinesWorkload(ScordWorkload):
    """Strong loads of whole lines, dealt to the SMs in turn: ports that never wait.

    A size is a number of lines; the seed does nothing.
    """

    sizes: ClassVar[tuple[int, int]] = (20_000, 400)

    def _draw(self, seed: int, size: int) -> list[tuple[int, Transaction]]:
        lines = (1 << _REGION.size_log2) // LINE_BYTES
        return [
            (n % self._params.sm_count,
             Transaction(TransactionKind.LOAD, strong=1, line=n % lines, mask=_ALL_WORDS))
            for n in range(size)
        ]  # fmt: skip
