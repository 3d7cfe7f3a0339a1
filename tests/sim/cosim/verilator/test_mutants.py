"""Mutants of a design: which are made, and the design that has them all."""

import re

import pytest

from racetrap.sim.cosim.verilator.build_cache import BACK_DOORS
from racetrap.sim.cosim.verilator.mutants import (
    MUTATED,
    MutantDraw,
    block_names,
    is_inside,
    read_mutants,
)
from tests.support.mutants import make_small


def test_every_block_has_mutants_of_its_own(tmp_path):
    width = make_small(tmp_path, MutantDraw(count=5, seed=3))
    mutants = read_mutants(tmp_path)
    assert [mutant.number for mutant in mutants] == list(range(1, len(mutants) + 1))
    assert 1 << width - 1 > len(mutants) >= 1 << width - 2
    assert {mutant.alone for mutant in mutants} == {0}  # no block is there twice
    assert {mutant.block: mutant.has_state for mutant in mutants} == {
        "system": False, "logic": False, "counter": True,
    }  # fmt: skip
    assert max(sum(each.block == one.block for each in mutants) for one in mutants) == 5
    verilog = (tmp_path / MUTATED).read_text()
    assert verilog.count(f"input [{width - 1}:0] mutant;") == 3
    assert verilog.count(".mutant(mutant)") == 2  # both blocks inside
    # What a shim changes is looked at again before the next clock edge.
    assert "@(negedge clk)" in (tmp_path / BACK_DOORS).read_text()


def test_neither_clocks_nor_outputs_of_registers_are_changed(tmp_path):
    make_small(tmp_path, MutantDraw(count=200))
    commands = [mutant.command for mutant in read_mutants(tmp_path)]
    assert [line for line in commands if re.search(r"-port (clk|CLK|Q) ", line)] == []
    assert [line for line in commands if "-port D " in line]


def test_one_block_and_those_inside(tmp_path):
    make_small(tmp_path, MutantDraw(("counter",), count=4))
    assert {mutant.block for mutant in read_mutants(tmp_path)} == {"counter"}
    assert is_inside("bank_lane", "bank")
    assert is_inside("bank", "system")
    assert not is_inside("banks", "bank")


def test_the_same_seed_gives_the_same_mutants(tmp_path):
    drawn = []
    for seed in (1, 1, 2):
        make_small(tmp_path, MutantDraw(("counter",), count=4, seed=seed))
        drawn.append(read_mutants(tmp_path))
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("module", "block"), [("scord_tiny", "system"), ("scord_tiny_bank_lane", "bank_lane")]
)
def test_a_block_is_named_without_the_system(module, block):
    assert block_names("scord-tiny", [module]) == {block: module}
