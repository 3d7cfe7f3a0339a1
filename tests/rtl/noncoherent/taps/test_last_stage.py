"""RVFI of a last stage against its model on random instructions, and planted bugs."""

from random import Random

import pytest
from amaranth.hdl import ClockDomain, Module

from racetrap.golden_model.noncoherent.taps.last_stage import (
    STAGE_LAYOUT,
    STORE,
    LastStage,
    retired_of,
)
from racetrap.golden_model.noncoherent.taps.rvfi_tap import LOAD, RETIRED_LAYOUT
from tests.support.noncoherent.taps.planted_bugs import LAST_STAGE_BUGS
from tests.support.noncoherent.taps.system import module_of
from tests.support.planted_bugs import one_for_each_file
from tests.support.rtl.streams import simulate

_BRANCH, _ADD = 0x63, 0x33


def _found_and_due(bug):
    m, random, found, due = Module(), Random(12), [], []
    m.domains.sync = ClockDomain()
    m.submodules.dut = dut = module_of("last_stage", bug).LastStage()

    async def play(ctx):
        for _ in range(500):
            opcode = random.choice((LOAD, STORE, _BRANCH, _ADD))
            stage = LastStage(
                random.getrandbits(32) & ~0x7F | opcode, random.getrandbits(32),
                random.getrandbits(32),
            )  # fmt: skip
            ctx.set(dut.i_stage, STAGE_LAYOUT.unpack(STAGE_LAYOUT.pack(stage._asdict())))
            found.append(
                {name: int(ctx.get(dut.o_retired[name])) for name in RETIRED_LAYOUT.fields}
            )
            due.append(retired_of(stage)._asdict())
            await ctx.tick()

    simulate(m, play, cycles=1000)
    return found, due


def test_rvfi_is_that_of_the_model():
    found, due = _found_and_due(None)
    assert found == due
    assert {each["mem_wmask"] for each in due} >= {0, 1, 2, 4, 8, 3, 12, 15}


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.file for name, bug in LAST_STAGE_BUGS.items()})
)
def test_planted_bug_is_found(name):
    found, due = _found_and_due(LAST_STAGE_BUGS[name])
    assert found != due
