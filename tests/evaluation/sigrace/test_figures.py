"""Figures of small programs by hand, and of the paper's configurations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from racetrap.evaluation.sigrace.figures import (
    BLOCK_SIZES,
    CHOSEN,
    DEPTHS,
    ONE_HOT,
    SETS,
    SYNC,
    configuration_params,
    make_figures,
)
from racetrap.evaluation.sigrace.measured import measured_run
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from tests.support.sigrace.measures import golden_measures, measure_case
from tests.support.sigrace.programs import ThreadProgram


def test_the_papers_configurations() -> None:
    configurations = configuration_params(SigraceParams(history_depth=4))
    one_hot = configurations.pop(ONE_HOT)
    assert one_hot == replace(configurations[CHOSEN], one_hot_lsb=True)
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
    chosen = configuration_params(SigraceParams())[CHOSEN]
    found = measured_run(Sigrace(chosen), program.trace()).false_positives
    counts = found.pairs, found.false_pairs, found.false_intersections, found.true_pairs
    assert counts == (1, 1, 1, 0)
    assert found.intersections == 3
    assert found.rate == pytest.approx(1 / 3)
    assert found.pair_rate == 1


def test_lost_window() -> None:
    """Four blocks of 100 instructions, of which a queue of one entry holds the last."""
    program = ThreadProgram(2)
    for number in range(4):
        program.store(0, 0x1000 + 4 * number, instructions=100)
    program.store(1, 0x2000, instructions=100)
    trace, params = program.trace(), SigraceParams(block_instructions=100, history_depth=1)
    # Thread 1's only message finds no predecessor: it has begun before the four blocks.
    figures = measured_run(Sigrace(params), trace).windows
    assert (figures.searches, figures.hits, figures.lost) == (5, 0, 1)
    begin = 2  # instructions of thread 0 before the stores
    assert figures.lost_window == pytest.approx((begin + 300) / (begin + 400) / 5)
    assert figures.lost_rate == pytest.approx(1 / 5)
    assert figures.comparisons_per_search == pytest.approx(1 / 5)
    full, room = (
        measured_run(Sigrace(replace(params, history_depth=depth)), trace).windows
        for depth in (4, 5)
    )
    assert (full.lost, full.lost_window) == (1, 0)
    assert room.lost == 0


@pytest.mark.parametrize("form", list(Form))
def test_message_sizes(form: Form) -> None:
    trace, params, interval = measure_case(2)
    params = replace(params, form=form)
    run = measured_run(Sigrace(params, checkpoint_interval=interval), trace)
    golden = golden_measures(trace, params, interval).message_bytes
    sizes = run.messages
    assert (sizes.messages, sizes.total) == (len(golden), sum(golden))
    assert sizes.mean == pytest.approx(sum(golden) / len(golden))
    assert sizes.percentile_99 in golden
    assert sum(size > sizes.percentile_99 for size in golden) <= 0.01 * len(golden)
    assert sizes.instructions == run.instructions == trace.events["instructions"].sum()
    assert sizes.per_1000_instructions == pytest.approx(1000 * sum(golden) / run.instructions)


def test_each_figure_is_of_its_configuration() -> None:
    trace, params, _ = measure_case(3)
    figures = make_figures(trace, params)
    configurations = configuration_params(params)
    chosen = configurations[CHOSEN]

    def rate(params: SigraceParams, sync_only: bool = False) -> object:
        return measured_run(Sigrace(params), trace, sync_only).false_positives

    assert list(figures.configurations) == [*configurations, SETS]
    for name, each in configurations.items():
        assert figures.configurations[name] == rate(each)
    assert figures.configurations[SETS] == rate(replace(chosen, form=Form.SETS))
    assert list(figures.block_sizes) == [*BLOCK_SIZES, SYNC]
    for size in BLOCK_SIZES:
        sized = replace(chosen, block_instructions=size)
        assert figures.block_sizes[size] == rate(sized)
        for depth in DEPTHS:
            deep = measured_run(Sigrace(replace(sized, history_depth=depth)), trace)
            assert figures.windows[size, depth] == deep.windows
    assert figures.block_sizes[SYNC] == rate(chosen, sync_only=True)
    assert (figures.events, figures.threads) == (len(trace), trace.header.threads)
