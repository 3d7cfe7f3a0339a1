"""Verdicts of warp.cu: threads of one warp.

Ref: BARRACUDA (PLDI'17) Section 3.3.1.
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import DIVERGENCE, NONE, Case

__all__ = ["WARP_CASES"]

_case = partial(Case, source="warp", grid=1, block=32)

WARP_CASES = (
    _case("warp_same_value_global", NONE, "The lanes of one instruction store one value."),
    _case("warp_different_values_global", DIVERGENCE, "The last of 32 values is not defined."),
    _case("warp_same_value_shared", NONE, "The lanes of one instruction store one value."),
    _case("warp_different_values_shared", DIVERGENCE, "The last of 32 values is not defined."),
    _case("branch_write_write", DIVERGENCE, "The order of the two sides is not defined."),
    _case("branch_same_value", DIVERGENCE, "Equal values are let pass in one instruction only."),
    _case("branch_write_read", DIVERGENCE, "The order of the two sides is not defined."),
    _case("branch_disjoint", NONE, "The two sides touch different words."),
    _case("branch_reconverged", NONE, "The read comes after both sides have met again."),
    _case("branch_nested_race", DIVERGENCE, "An inner side writes what the outer else reads."),
    _case("branch_nested_reconverged", NONE, "The read comes after the inner sides have met."),
    _case("branch_three_ways", DIVERGENCE, "One case of a switch writes what another reads."),
    _case("loop_own_word", NONE, "Every lane stores to its own word, however often."),
    _case("loop_word_of_iteration", DIVERGENCE, "Lanes in one iteration store different values."),
    _case("loop_same_value", NONE, "Lanes in one iteration store one value; they leave in order."),
    _case("loop_break_store", DIVERGENCE, "A leaving lane stores what the staying lanes read."),
    _case("lockstep_neighbour", NONE, "All lanes have stored before any loads: lockstep."),
    _case("lockstep_partial_warp", NONE, "The same with 20 lanes.", block=20),
    _case("lockstep_after_exit", NONE, "The same when half the lanes have ended."),
    _case("shuffle_exchange", NONE, "Values go through registers."),
    _case("ballot_leader", NONE, "One elected lane stores."),
    _case("predicated_one_lane", NONE, "The predicate leaves one lane."),
    _case("predicated_two_lanes", DIVERGENCE, "The predicate leaves two lanes, one word."),
    _case("call_inlined_own_word", NONE, "An inlined function stores to the lane's own word."),
    _case("call_own_word", NONE, "A called function stores to the lane's own word."),
    _case("call_one_word", DIVERGENCE, "A called function stores 32 values to one word."),
    _case("call_in_both_branches", DIVERGENCE, "One store instruction, called from two sides."),
    _case("warp_atomics", NONE, "Atomics do not race with each other."),
    _case("warp_atomic_then_read", NONE, "The read comes in the next instruction: lockstep."),
    _case("branch_atomic_store", DIVERGENCE, "An atomic on one side, a store on the other."),
)
