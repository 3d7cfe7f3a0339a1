"""Cases for what the compiled SigRace measures, and what the golden model says of them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Command, CoreCommand
from racetrap.golden_model.sigrace.packets import Conflict, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.random_run import random_run
from tests.support.threads.random_traces import random_thread_trace


class MeasureCase(NamedTuple):
    """A program, a configuration, and instructions between checkpoints."""

    trace: ThreadTrace
    params: SigraceParams
    interval: int


def measure_case(seed: int) -> MeasureCase:
    """Case number ``seed``: small limits, so that every way of ending a block occurs."""
    if seed % 3:
        trace = random_run(
            seed,
            threads=1 + seed % 6,
            events=600,
            granules=(12, 2000, 100)[seed % 3],
            sync=(0.05, 0.1, 0.3)[seed // 2 % 3],
        )
    else:
        trace = random_thread_trace(seed, threads=5, addresses=4096)
    if seed % 4 == 1:
        trace = ThreadTrace(trace.header, trace.events[:450])  # stopped before its end
    params = SigraceParams(
        cores=(8, 4)[seed % 2],
        contexts=2,
        form=("hashed", "sets")[seed % 5 > 0],
        one_hot_lsb=seed % 4 == 0,
        lsb_bits=(4, 6, 10)[seed // 2 % 3],
        filter_bits=(16, 64, 128)[seed // 3 % 3],
        usb_limit=(1, 2, 5)[seed % 3],
        block_instructions=(50, 200, 2000)[seed % 3],
        history_depth=(2, 5, 16)[seed // 3 % 3],
        log_depth=1 + seed % 9,
        log_blocks=1 + seed % 4,
    )
    return MeasureCase(trace, params, (700, 3000, 1_000_000)[seed // 2 % 3])


class ExactUnit(CoreUnit):
    """Core unit that keeps the granules of its blocks: those read, and those written.

    Attributes
    ----------
    ended : list of (set, set)
        Those of the blocks that have ended; the caller takes them out.
    granules : (set, set)
        Those of the block so far.
    """

    def __init__(self, params: SigraceParams, core: int = 0, context: int = 0) -> None:
        self.ended: list[tuple[set[int], set[int]]] = []
        self.granules: tuple[set[int], set[int]] = (set(), set())
        super().__init__(params, core, context)

    def _access(self, address: int, size: int, pc: int, is_write: int) -> None:
        """One granule at a time: a block can end before any of them."""
        for granule in range(address >> 2, (address + size - 1 >> 2) + 1):
            granule &= (1 << 30) - 1
            super()._access(granule << 2, 4, pc, is_write)
            self.granules[is_write].add(granule)

    def _end(self, cause: int) -> None:
        super()._end(cause)
        if any(self.granules):
            self.ended.append(self.granules)
            self.granules = (set(), set())


class _Arrived(NamedTuple):
    """A block in the RDM, with the instructions of its thread since the checkpoint."""

    granules: tuple[set[int], set[int]]
    committed: int


class GoldenMeasures:
    """Measures of a run of the golden model, to whose hardware it listens.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    """

    def __init__(self, params: SigraceParams) -> None:
        self.rdm = Rdm(params)
        self.counts: Counter[str] = Counter()
        self.causes: Counter[int] = Counter()
        self.lost_windows = 0.0
        self.message_bytes: list[int] = []
        self._params = params
        self._units: dict[tuple[int, int], ExactUnit] = {}
        self._begin_interval()

    def _begin_interval(self) -> None:
        self._arrived: list[list[_Arrived]] = [[] for _ in range(self._params.threads)]
        self._committed = [0] * self._params.threads
        self._lost: list[int] = []

    def command(self, command: Command) -> None:
        """A core takes an event, or CoreToThread is changed."""
        if not isinstance(command, CoreCommand):
            self.rdm.map(*command)
            return
        core, context, event, number = command
        unit = self._units.setdefault((core, context), ExactUnit(self._params, core, context))
        unit.take(event)
        if number >= 0:
            self._committed[unit.thread] += event.instructions
        for block, granules in zip(unit.blocks, unit.ended, strict=True):
            self._arrive(block, _Arrived(granules, self._committed[block.thread]))
        unit.blocks.clear()
        unit.ended.clear()

    def _arrive(self, block: FinishedBlock, own: _Arrived) -> None:
        depth, counts = self._params.history_depth, self.counts
        self.causes[block.cause] += 1
        self.message_bytes.append(4 * len(encode(self._params, block)))
        for step in self.rdm.summary(block.summary(self._params)):
            if step.kind == RdmStepKind.PUSH:
                for other, arrived in enumerate(self._arrived):
                    if step.lost >> other & 1 and len(arrived) > depth:
                        self._lost.append(arrived[-depth - 1].committed)
            elif step.relation == Relation.UNORDERED:
                other = self._arrived[step.other][-1 - step.position]
                real = _conflict(own.granules, other.granules)
                assert real & ~step.conflict == 0
                counts["true_pairs"] += real > 0
                counts["true_intersections"] += real.bit_count()
                counts["false_pairs"] += step.conflict > 0 == real
                counts["false_intersections"] += (step.conflict & ~real).bit_count()
            else:
                counts["hits"] += step.relation == Relation.PRECEDES
        self._arrived[block.thread].append(own)

    def flush(self) -> None:
        """The interval ends, and the queues are emptied."""
        self.lost_windows += sum(each / max(self._committed) for each in self._lost)
        self.rdm.flush()
        self._begin_interval()

    def clear_log(self) -> None:
        """Nothing is analysed here."""

    def analysis_unit(self) -> CoreUnit:
        """A unit whose blocks are not measured."""
        return CoreUnit(self._params)


def golden_measures(
    trace: ThreadTrace, params: SigraceParams, interval: int = 1_000_000
) -> GoldenMeasures:
    """Measures of the golden model's run."""
    measures = GoldenMeasures(params)
    Sigrace(params, checkpoint_interval=interval).run(trace, measures)
    measures.flush()
    return measures


def _conflict(one: tuple[set[int], set[int]], other: tuple[set[int], set[int]]) -> int:
    """``Conflict`` bits of a message and an entry by their granules."""
    kinds = {
        Conflict.READ_WRITE: one[0] & other[1],
        Conflict.WRITE_READ: one[1] & other[0],
        Conflict.WRITE_WRITE: one[1] & other[1],
    }
    return sum(int(kind) for kind, common in kinds.items() if common)
