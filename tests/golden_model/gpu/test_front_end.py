"""Golden front end: instructions stand for events, CAS wait, barriers are those of the executor."""

import random
from types import SimpleNamespace

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.events import AtomicOp, MemoryOrder
from racetrap.golden_model.gpu.barrier_counter import BarrierCounter
from racetrap.golden_model.gpu.front_end import FrontEnd
from racetrap.golden_model.gpu.issue import Instruction, IssueKind, event_of, instruction_of
from racetrap.golden_model.gpu.outcome_hold import OutcomeHold
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.causality import random_events as causality
from racetrap.sim.cosim.causality.styles import Style
from racetrap.sim.cosim.scord import random_events as scord
from racetrap.sim.cosim.scord.knobs import Knobs
from racetrap.sim.gpu.executor.machine.cluster import Cluster
from racetrap.sim.gpu.executor.machine.sleepers import Polls
from racetrap.sim.gpu.executor.machine.thread_block import ThreadBlock
from tests.support.gpu.random_issue import RandomIssue

KIND = IssueKind
SIZES = {"sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": 4, "address_bits": 32}
CAS = Instruction(KIND.ATOMIC, warp=1, op=AtomicOp.CAS, strong=1, size=2, lanes=1, addresses=(64,))


@pytest.mark.parametrize(
    ("made", "style", "params", "split"),
    [
        (scord, Knobs(), ScordParams(**SIZES, ratio=4), coalesce),
        (causality, Style(named=0.5), CausalityParams(**SIZES, shared_bytes=256), split_words),
    ],
    ids=["scord", "causality"],
)
def test_an_instruction_gives_the_transactions_of_its_event(made, style, params, split):
    events = made.random_events(params, Region(0x10000, 16), style, 3, 800)
    compared = 0
    for event in events:
        instruction = instruction_of(event)
        if instruction is not None:
            expected = split(event, params)
            assert split(event_of(instruction, event.sm), params) == expected
            compared += len(expected)
    assert compared > 800


def test_a_cas_holds_its_warp_and_its_block():
    hold = OutcomeHold(ScordParams(**SIZES, outstanding_cas=1))
    assert hold.take(CAS) == []
    load = Instruction(KIND.LOAD, lanes=1, addresses=(0,))
    may = {
        name: hold.may_take(each)
        for name, each in {
            "own": load._replace(warp=1), "other": load, "second cas": CAS._replace(warp=0),
            "start": Instruction(KIND.BLOCK_START, slot=1), "end": Instruction(KIND.BLOCK_END),
        }.items()
    }  # fmt: skip
    assert may == {"own": False, "other": True, "second cas": False, "start": True, "end": False}
    assert hold.answer(1, 1) == CAS._replace(success=1)
    assert hold.may_take(load._replace(warp=1))


def test_an_outcome_without_a_cas_is_refused():
    with pytest.raises(KeyError):
        FrontEnd(ScordParams(**SIZES), coalesce).answer(1, 1)


def test_the_outcome_decides_the_lock():
    front = FrontEnd(ScordParams(**SIZES), coalesce)
    cas = CAS._replace(marks=1)
    for success in (0, 1):
        assert front.step(cas) == []
        assert [each.lock_mask for each in front.answer(1, success)] == [success << 16]


class _Warp:
    """A warp for the executor's barriers, whose lanes end or are suspended."""

    def __init__(self, lanes, independent):
        self.alive, self._independent, self.polls = lanes, independent, Polls()

    def has_arrived(self, mask):
        return not self._independent or not self.alive & ~mask

    def suspend(self, *_):
        """It waits."""

    release = suspend


class _Executor:
    """Barriers of blocks by the executor's own rule."""

    def __init__(self, params):
        self._params, self._blocks, self.passed = params, {}, []
        log = SimpleNamespace(
            arrival=lambda warp, pc, number: None,
            barrier=lambda block, pc: self.passed.append((KIND.BARRIER, block.slot, pc, 0, 0)),
            partial_barrier=lambda block, pc, number, mask: self.passed.append(
                (KIND.PARTIAL_BARRIER, block.slot, pc, number, mask)
            ),
        )
        self._launch = SimpleNamespace(weak=None, log=log, progress=False)

    def step(self, each):
        """The same as ``BarrierCounter.step``, of barriers alone."""
        self.passed.clear()
        if each.kind == KIND.BLOCK_START:
            block = ThreadBlock(Cluster(self._launch, 0, 1, 0), 0, 0, each.slot, 0)
            lanes = [(1 << self._params.lanes) - 1] * (each.warps.bit_count() - 1) + [each.lanes]
            block.warps = [_Warp(one, self._params.independent_threads) for one in lanes]
            self._blocks[each.slot] = each.warp, block
        elif each.kind in (KIND.BARRIER, KIND.ARRIVE, KIND.EXIT):
            first, block = self._blocks[each.slot]
            warp = block.warps[each.warp - first]
            if each.kind == KIND.EXIT:
                warp.alive &= ~each.lanes
                block.lanes_ended(warp)
            else:
                threads = 32 * each.warps if each.warps else None
                waits = each.kind == KIND.BARRIER
                block.arrive(warp, each.lanes, each.number, threads, waits, each.pc)
                block.try_open(each.number, each.pc)
        return self.passed


@pytest.mark.parametrize("independent", [False, True])
def test_barriers_are_passed_as_in_the_executor(independent):
    params = CausalityParams(**SIZES, lanes=5, independent_threads=independent)
    executor, counter, passed = _Executor(params), BarrierCounter(params), 0
    stream = iter(RandomIssue(params, "executor"))
    for _ in range(4000):
        each = next(stream)
        given = [
            (one.kind, one.slot, one.pc, one.number, one.warps)
            for one in counter.step(each)
            if one.kind in (KIND.BARRIER, KIND.PARTIAL_BARRIER)
        ]
        assert sorted(given) == sorted(executor.step(each)), each
        passed += len(given)
    assert passed > 200


def test_marks_are_the_values_that_matter():
    rng = random.Random(2)
    for op in AtomicOp:
        marks = rng.getrandbits(3)
        each = CAS._replace(op=op, lanes=7, marks=marks, addresses=(0, 4, 8), success=0)
        assert instruction_of(event_of(each, 0)).marks == marks
    release = Instruction(
        KIND.STORE, strong=1, order=MemoryOrder.RELEASE, lanes=3, marks=2, addresses=(0, 4), size=2
    )
    assert instruction_of(event_of(release, 0)) == release
