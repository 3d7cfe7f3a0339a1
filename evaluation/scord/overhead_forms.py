"""Forms of the detector's time: none of its own, a model of its cycles, the hardware itself.

Ref: ScoRD (ISCA'20) Section V, whose detector has no time of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from racetrap.generators.presets import find_preset
from racetrap.generators.systems import system_of
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.lane_splitter import split_lanes
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.packing import pack_tuples
from racetrap.sim.cosim.scord.cycle_model import CycleModel
from racetrap.sim.gpu.timing.counts import TimingCounts
from racetrap.sim.gpu.timing.detector_ports import DetectorInput, TimedDetector
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.gpu.timing.replay import Replay

#: Slices of the paper's L2, each with a metadata port.
_SLICES = 24


def _params_of(preset: str, **settings: Any) -> Any:
    return replace(find_preset(preset).params, **settings)


#: ScoRD's hardware by name, as a model of its cycles.
MODELS: Mapping[str, ScordParams] = MappingProxyType({
    "24 ports of 8 words, 256 in flight": _params_of(
        "scord-wide", banks=8 * _SLICES, outstanding=256
    ),
    "24 ports of 8 words, 64 in flight": _params_of("scord-wide", banks=8 * _SLICES),
    "24 ports of a word, 32 in flight": _params_of("scord", banks=_SLICES),
    **{preset: _params_of(preset) for preset in ("scord-wide", "scord-banks4", "scord")},
})  # fmt: skip
#: Presets whose Verilated hardware runs beside the GPU, each with the function that gives its
#: detector's transactions of an event.
HARDWARE: Mapping[str, Callable[[Event, Any], Iterable[tuple[int, ...]]]] = MappingProxyType({
    "scord-wide": coalesce, "scord": coalesce, "causality": split_words,
    "hirace-global": split_lanes,
})  # fmt: skip


class DetectorForms:
    """Replays of a trace on the timing model with a detector that has cycles of its own.

    Parameters
    ----------
    trace : Trace
        The trace, with counts of instructions.
    gpu : TimingParams
        GPU, with what the detector costs the network.
    """

    def __init__(self, trace: Trace, gpu: TimingParams) -> None:
        self._trace, self._gpu = trace, gpu

    def models(self, chosen: Mapping[str, ScordParams] = MODELS) -> dict[str, TimingCounts]:
        """Cycles and traffic with each of some models, all for SMs of the same size."""
        told = self._told(next(iter(chosen.values())), coalesce)
        counts = {}
        with Replay(self._trace, self._gpu.segment_log2, told) as replay:
            for name, params in chosen.items():
                region = self._region(params)
                with CycleModel(params, region) as model:
                    counts[name] = replay.run(self._gpu, _timed(model, params, region, told))
        return counts

    def hardware(self) -> dict[str, TimingCounts]:
        """Cycles and traffic with the Verilated hardware of each preset."""
        return {preset: self._run_hardware(preset) for preset in HARDWARE}

    def _run_hardware(self, preset: str) -> TimingCounts:
        params: Any = find_preset(preset).params
        simulation = system_of(params).own("sim.cosim", "fast_simulation").FastSim
        region, told = self._region(params), self._told(params, HARDWARE[preset])
        with (
            Replay(self._trace, self._gpu.segment_log2, told) as replay,
            simulation(build_fast(preset, params)) as sim,
        ):
            return replay.run(self._gpu, _timed(sim, params, region, told))

    def _region(self, params: Any) -> Region:
        """The trace's data, in a region that a configuration can have; metadata begin at 0."""
        region = self._trace.header.region
        return Region(region.data_base, max(region.size_log2, params.min_region_log2), 0)

    def _told(
        self, params: Any, transactions_of: Callable[[Event, Any], Iterable[tuple[int, ...]]]
    ) -> DetectorInput:
        """What the SMs tell a detector of each event."""
        rows: list[tuple[int, ...]] = []
        first = [0]
        for event in self._trace:
            rows += transactions_of(event, params)
            first.append(len(rows))
        words = np.ascontiguousarray(pack_tuples(params.transaction_layout, rows))
        return DetectorInput(words, np.array(first, np.uint64))


def _timed(detector: Any, params: Any, region: Region, told: DetectorInput) -> TimedDetector:
    """A model or hardware beside the GPU."""
    return TimedDetector(
        detector.detector_ports(), lambda: detector.launch(region), told, params.segment_bytes
    )
