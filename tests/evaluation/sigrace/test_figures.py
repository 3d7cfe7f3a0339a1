"""Searches, signatures, exact sets, false positives and sizes against the golden model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from racetrap.evaluation.sigrace import exact_sets, windows
from racetrap.evaluation.sigrace.blocks import make_blocks
from racetrap.evaluation.sigrace.exact_sets import ExactSets
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.evaluation.sigrace.false_positives import (
    false_positives,
    paper_configurations,
)
from racetrap.evaluation.sigrace.messages import message_bytes, message_sizes
from racetrap.evaluation.sigrace.signatures import Signatures
from racetrap.evaluation.sigrace.windows import (
    Pairs,
    make_searches,
    unordered_pairs,
    window_figures,
)
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.packets import Conflict, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm
from tests.support.sigrace.engine import engine_case, golden_blocks, set_of
from tests.support.sigrace.programs import ThreadProgram

SEEDS = range(0, 45, 2)


class Golden:
    """The golden RDM's work on a case, checkpoints included."""

    def __init__(self, seed: int, unbounded: bool = False) -> None:
        self.case = engine_case(seed)
        self.params = self.case.params
        self.execution = Execution(self.case.trace, self.case.interval)
        self.blocks = [block for _, block in golden_blocks(self.case, self.execution)]
        self.engine = make_blocks(self.execution, self.params)
        self.searches = make_searches(self.execution, self.engine)
        self.depth = None if unbounded else self.params.history_depth
        self.rdm = Rdm(self.params, unbounded)
        for thread in range(self.case.trace.header.threads):
            self.rdm.map(thread % self.params.cores, thread // self.params.cores, thread)
        self.pairs: list[tuple[int, int, int]] = []  # message, entry, conflict
        self.hits = 0
        arrived: list[list[int]] = [[] for _ in range(self.params.threads)]
        for number, block in enumerate(self.blocks):
            if number and self.engine.interval[number] != self.engine.interval[number - 1]:
                self.rdm.flush()
            for step in self.rdm.summary(block.summary(self.params)):
                if step.kind != RdmStepKind.COMPARE:
                    continue
                if step.relation == Relation.UNORDERED:
                    entry = arrived[step.other][-1 - step.position]
                    self.pairs.append((number, entry, step.conflict))
                self.hits += step.relation == Relation.PRECEDES
            arrived[block.thread].append(number)

    def engine_pairs(self) -> Pairs:
        parts = list(unordered_pairs(self.searches, self.depth))
        return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@pytest.mark.parametrize("unbounded", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_searches_and_conflicts(seed: int, unbounded: bool) -> None:
    golden = Golden(seed, unbounded)
    figures = window_figures(golden.execution, golden.engine, golden.searches, golden.depth)
    assert figures.comparisons == golden.rdm.counters["comparisons"]
    assert figures.hits == golden.hits
    assert figures.lost == sum(golden.rdm.lost.values())
    pairs = golden.engine_pairs()
    found = Signatures(golden.params, golden.engine).conflicts(pairs)
    columns = (pairs.message.tolist(), pairs.entry.tolist(), found.tolist())
    assert list(zip(*columns, strict=True)) == golden.pairs


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_sets(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = Golden(seed)
    pairs, engine = golden.engine_pairs(), golden.engine
    found = ExactSets(engine).conflicts(pairs)
    for message, entry, conflict in zip(*pairs, found, strict=True):
        read, write = set_of(engine, 2 * message), set_of(engine, 2 * message + 1)
        other_read, other_write = set_of(engine, 2 * entry), set_of(engine, 2 * entry + 1)
        expected = Conflict.READ_WRITE if read & other_write else Conflict.NONE
        expected |= Conflict.WRITE_READ if write & other_read else Conflict.NONE
        expected |= Conflict.WRITE_WRITE if write & other_write else Conflict.NONE
        assert conflict == expected
    monkeypatch.setattr(exact_sets, "_CHUNK_GRANULES", 5)
    assert (ExactSets(engine).conflicts(pairs) == found).all()
    monkeypatch.setattr(exact_sets, "_TABLE_BYTES", 1)
    assert (ExactSets(engine).conflicts(pairs) == found).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_small_chunks_of_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = Golden(seed)
    pairs = golden.engine_pairs()
    monkeypatch.setattr(windows, "_CHUNK_PAIRS", 1 + seed % 5)
    for one, other in zip(pairs, golden.engine_pairs(), strict=True):
        assert (one == other).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_false_positives(seed: int) -> None:
    golden = Golden(seed)
    params = golden.params
    found = false_positives(golden.execution, {"here": params}, params)["here"]
    pairs = golden.engine_pairs()
    true = ExactSets(golden.engine).conflicts(pairs).tolist()
    signature = [conflict for _, _, conflict in golden.pairs]
    false = [has & ~real for has, real in zip(signature, true, strict=True)]
    assert found.pairs == len(true)
    assert found.intersections == 3 * len(true)
    assert found.false_intersections == sum(bits.bit_count() for bits in false)
    assert found.true_intersections == sum(bits.bit_count() for bits in true)
    assert found.true_pairs == sum(bits != 0 for bits in true)
    assert found.false_pairs == sum(has > 0 == real for has, real in zip(false, true, strict=True))
    assert found.rate == pytest.approx(found.false_intersections / (3 * len(true) or 1))
    assert found.pair_rate == pytest.approx(found.false_pairs / (len(true) or 1))


def test_the_papers_configurations() -> None:
    configurations = paper_configurations(SigraceParams(history_depth=4))
    bits = {name: params.signature_bits for name, params in configurations.items()}
    assert len(bits) == 18
    assert [bits[f"B2_S{number}"] for number in range(1, 7)] == [4096, 2048, 1024] * 2
    assert [configurations[f"B{number}_S2"].lsb_bits for number in (1, 2, 3)] == [8, 10, 16]
    assert {params.history_depth for params in configurations.values()} == {4}


def test_a_false_positive_by_address_portions() -> None:
    """Two sets with the same LSB and USB values in other combinations."""
    program = ThreadProgram(2)
    for thread, addresses in ((0, (0x10000, 0x20004)), (1, (0x10004, 0x20000))):
        for address in addresses:
            program.store(thread, address)
    params = SigraceParams()
    execution = Execution(program.trace())
    found = false_positives(execution, paper_configurations(params), params)["B2_S2"]
    counts = found.pairs, found.false_pairs, found.false_intersections, found.true_pairs
    assert counts == (1, 1, 1, 0)
    assert found.rate == pytest.approx(1 / 3)


def test_lost_window() -> None:
    """Four blocks of 100 instructions, of which a queue of one entry holds the last."""
    program = ThreadProgram(2)
    for number in range(4):
        program.store(0, 0x1000 + 4 * number, instructions=100)
    program.store(1, 0x2000, instructions=100)
    params = SigraceParams(block_instructions=100)
    execution = Execution(program.trace())
    blocks = make_blocks(execution, params)
    searches = make_searches(execution, blocks)
    # Thread 1's only message finds no predecessor: it has begun before the four blocks.
    figures = window_figures(execution, blocks, searches, 1)
    assert (figures.searches, figures.hits, figures.lost) == (5, 0, 1)
    begin = 2  # instructions of thread 0 before the stores
    assert execution.interval_lengths.tolist() == [begin + 400]
    assert figures.lost_window == pytest.approx((begin + 300) / (begin + 400) / 5)
    assert figures.lost_rate == pytest.approx(1 / 5)
    assert figures.comparisons_per_search == pytest.approx(1 / 5)
    assert window_figures(execution, blocks, searches, 4).lost_window == 0
    assert window_figures(execution, blocks, searches, 5).lost == 0


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("seed", SEEDS)
def test_message_bytes(seed: int, form: Form) -> None:
    case = engine_case(seed)
    case = case._replace(params=replace(case.params, form=form))
    execution = Execution(case.trace, case.interval)
    blocks = make_blocks(execution, case.params)
    golden = [_bytes(case.params, block) for _, block in golden_blocks(case, execution)]
    assert message_bytes(case.params, blocks).tolist() == golden
    sizes = message_sizes(case.params, blocks, 5000)
    assert sizes.total == sum(golden)
    assert sizes.mean == pytest.approx(sum(golden) / len(golden))
    assert sizes.percentile_99 in golden
    assert sum(size > sizes.percentile_99 for size in golden) <= 0.01 * len(golden)
    assert sizes.per_1000_instructions == pytest.approx(sizes.total / 5)


def _bytes(params: SigraceParams, block: FinishedBlock) -> int:
    return 4 * len(encode(params, block))
