"""Mutants of a block alone in its benches."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.evaluation.mutants import benches
from racetrap.evaluation.mutants.benches import BenchRun, benches_around, benches_of, run_benches
from racetrap.evaluation.mutants.block_library import build_block
from racetrap.evaluation.mutants.run import Outcome
from racetrap.generators.presets import find_preset, module_name
from racetrap.sim.cosim.verilator.build_cache import generate_rtl
from racetrap.sim.cosim.verilator.first_instance import module_bodies
from racetrap.sim.cosim.verilator.mutants import UNCHANGED, MutantDraw, block_names, read_mutants
from racetrap.sim.failure import Failure
from tests.support.campaign import later_but
from tests.support.mutants import make_small
from tests.support.rtl.block_bench import BlockBench
from tests.support.rtl.streams import simulate
from tests.support.rtl.verilated_block import VerilatedBlock

PRESET = "causality-tiny"


class Counter(wiring.Component):
    """What block `counter` of the small design does, but for input `spare`."""

    def __init__(self, width=3):
        super().__init__({"i": In(1), "spare": In(1), "o": Out(width)})

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.o.eq((self.o + self.i) & 3)
        return m


def count_up(make, params, seed):
    """Counts modulo four wherever the input is high."""
    dut = make()

    async def testbench(ctx):
        count = 0
        for cycle in range(12):
            ctx.set(dut.i, high := (seed + cycle) % 3 > 0)
            await ctx.tick()
            count = (count + high) % 4
            assert ctx.get(dut.o) == count, f"cycle {cycle}"

    simulate(dut, testbench)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    make_small(folder, MutantDraw(("counter",), 20))
    return folder


@pytest.fixture
def known(monkeypatch):
    """The small design as a preset with one bench."""
    bench = BlockBench(Counter, count_up, 2)
    monkeypatch.setattr(benches, "benches_of", lambda preset: {"counter": bench})
    monkeypatch.setattr(benches, "find_preset", lambda preset: SimpleNamespace(params=None))
    return bench


def test_bench_finds_what_a_mutant_does_and_nothing_else(small, known):
    assert run_benches(BenchRun(small, "", UNCHANGED, "small", ("counter",))).reason == ""
    found = {
        mutant.change: run_benches(BenchRun(small, "", mutant, "small", ("counter",)))
        for mutant in read_mutants(small)
    }
    killed = {change for change, each in found.items() if each.outcome is Outcome.KILLED}
    assert 0 < len(killed) < len(found)
    reasons = {found[change].reason for change in killed}
    expected = "bench of counter, seed 0: AssertionError: cycle"
    assert [reason for reason in reasons if not reason.startswith(expected)] == []
    # Nothing of the counter's depends on it.
    assert [change for change in killed if "spare" in change] == []


def test_a_bench_that_is_wrong_is_no_difference(small, known, monkeypatch, capfd):
    def fails(make, params, seed):
        raise TypeError(make)

    wrong = replace(known, play=fails)
    monkeypatch.setattr(benches, "benches_of", lambda preset: {"counter": wrong})
    with pytest.raises(Failure):
        run_benches(BenchRun(small, "", UNCHANGED, "small", ("counter",)))
    assert "TypeError" in capfd.readouterr().err


def test_a_block_keeps_its_state_until_it_is_made_again(small):
    library = build_block(small, "small_counter")
    places = [port.name for port in library.ports if port.is_input]
    one = 1 << 32 * places.index("i")
    for _ in range(2):
        block = library.instance(0)
        assert [block.evaluate(one, has_edge=True) for _ in range(5)] == [1, 2, 3, 0, 1]
        assert [block.evaluate(each) for each in (0, one)] == [1, 1]
        del block
    with pytest.raises(KeyError):
        build_block(small, "small_none")


def test_ports_must_be_those_of_the_component(small):
    library = build_block(small, "small_counter")
    with pytest.raises(ValueError, match=r"Port o .* 3 bits"):
        VerilatedBlock(Counter(width=4), library)


# Benches of a preset ----------------------------------------------------------------------------


def test_benches_are_of_blocks_that_there_are(tmp_path):
    generate_rtl(PRESET, find_preset(PRESET).params, tmp_path)
    modules = module_bodies((tmp_path / f"{PRESET}.v").read_text())
    assert set(benches_of(PRESET)) <= set(block_names(PRESET, list(modules)))
    assert module_name(PRESET) in modules


def test_the_innermost_bench_comes_first():
    assert benches_around(PRESET, "bank_lane_notices_queue") == ("bank_lane_notices", "bank")
    assert benches_around(PRESET, "registers") == ()
    assert benches_around("scord-tiny", "bank") == ()


@pytest.mark.parametrize("block", later_but(
    {"bank_fifo", "bank_locator_decoder", "report_path_filter"}.__contains__, benches_of(PRESET)
))  # fmt: skip
def test_components_pass_their_benches(block):
    bench = benches_of(PRESET)[block]
    bench.play(bench.component, find_preset(PRESET).params, 0)
