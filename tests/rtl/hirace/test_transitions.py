"""Transitions in hardware against the golden model's, all 1,200."""

from itertools import product

from amaranth.sim import Simulator

from racetrap.golden_model.hirace.states import Access, Relation, State, Sync
from racetrap.golden_model.hirace.transitions import transition
from racetrap.rtl.hirace.transitions import Transitions


def test_every_transition():
    dut, compared = Transitions(), 0

    async def testbench(ctx):
        nonlocal compared
        for state, access, sync, relation in product(State, Access, Sync, Relation):
            ctx.set(dut.i_state, state)
            ctx.set(dut.i_access, access)
            ctx.set(dut.i_sync, sync)
            ctx.set(dut.i_relation, relation)
            await ctx.delay(0)
            after = transition(state, access, sync, relation)
            assert State(ctx.get(dut.o_state)) is after, (state, access, sync, relation)
            assert ctx.get(dut.o_race) == (after is State.RACE and state is not State.RACE)
            compared += 1

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()
    assert compared == 1200
