"""Proof: a block of addresses leaves a core unit once, whole, before its sets are emptied."""

from __future__ import annotations

from amaranth.hdl import Assume, Const, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.packets import Cause, CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/controller.py"
_PARAMS = SigraceParams(cores=1, threads=1, filters=2, filter_bits=16, usb_limit=1)


class BlockHarness(Harness):
    """A free item, which waits until it takes effect; whether the block has an address is counted.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._controller = modules_with([_FILE], case.bug)[_FILE].Controller(_PARAMS)
        super().__init__(case, {
            "i_valid": In(1), "i_op": In(CoreOp), "i_has_granule": In(1), "i_collecting": In(1),
            "i_hits": In(1), "i_overflows": In(1), "i_reaches_limit": In(1), "i_ready": In(1),
            "i_trap_ready": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.controller = controller = self._controller
        empty = Signal(init=1)
        item = controller.i_item
        m.d.comb += [
            controller.i_valid.eq(self.i_valid), item.event.op.eq(self.i_op),
            item.has_granule.eq(self.i_has_granule), controller.i_collecting.eq(self.i_collecting),
            controller.i_hits.eq(self.i_hits), controller.i_overflows.eq(self.i_overflows),
            controller.i_reaches_limit.eq(self.i_reaches_limit), controller.i_is_empty.eq(empty),
            controller.o_block.ready.eq(self.i_ready),
            controller.i_trap_ready.eq(self.i_trap_ready),
        ]  # fmt: skip
        collects = self.i_has_granule & self.i_collecting
        m.d.sync += empty.eq(~controller.o_insert & (controller.o_clear | empty))
        block, step = controller.o_block, controller.o_step
        leaves = block.valid & block.ready
        is_reset = step & (self.i_op == CoreOp.RESET)
        # A block at its limit ends behind the item that took effect last, others before this one.
        at_limit = Signal()
        m.d.sync += at_limit.eq((step & self.i_reaches_limit) | (at_limit & ~controller.o_clear))
        full = collects & self.i_overflows
        ends = full | (self.i_op == CoreOp.SYNC_REACHED) | (self.i_op == CoreOp.SWITCH_OUT)
        cause = Mux(
            full, Cause.FULL,
            Mux(self.i_op == CoreOp.SYNC_REACHED, Const(Cause.SYNC, 3), Cause.SWITCH),
        )  # fmt: skip
        # What waits is the same in the next cycle.
        waits, offered = Signal(), Signal()
        held = Signal(3)
        same = [
            (signal, Signal.like(signal, name=f"last_{number}"))
            for number, signal in enumerate((
                self.i_op, self.i_has_granule, self.i_collecting, self.i_hits, self.i_overflows,
            ))
        ]  # fmt: skip
        had_room = Signal()
        m.d.sync += [
            waits.eq(self.i_valid & ~step), offered.eq(block.valid & ~block.ready),
            held.eq(block.payload), had_room.eq(self.i_trap_ready & ~controller.o_trap_valid),
            *(last.eq(signal) for signal, last in same),
        ]  # fmt: skip
        m.d.comb += [Assume(~waits | (self.i_valid & (signal == last))) for signal, last in same]
        m.d.comb += Assume(~had_room | self.i_trap_ready)
        can_trap = ~(collects & self.i_hits) | self.i_trap_ready
        rules = [
            ~block.valid | ~empty,
            # It is not emptied before it has left, but by a RESET, nor kept after.
            ~(controller.o_clear & ~empty) | leaves | is_reset, ~leaves | controller.o_clear,
            # An address goes into its set as its item takes effect, after the block has left.
            controller.o_insert == (step & collects),
            ~(step & (at_limit | ends) & ~empty & ~is_reset) | leaves,
            ~step | (self.i_valid & can_trap),
            # Nothing leaves for another reason; the item's own end is not that of its successor.
            ~block.valid | at_limit | (self.i_valid & ends & can_trap),
            ~block.valid | (block.payload == Mux(at_limit, Cause.LIMIT, cause)),
            ~offered | (block.valid & (block.payload == held)),
            # Nothing waits but for room.
            ~(self.i_valid & can_trap & block.ready) | step | (at_limit & ends),
            controller.o_trap_valid == (step & collects & self.i_hits),
        ]  # fmt: skip
        helps = [controller.o_is_ending == at_limit]
        events = {
            "full-before-an-item": leaves & ~at_limit & full & step,
            "at-the-limit-with-the-next": leaves & at_limit & step & collects,
            "waits-for-the-compressor": leaves & offered,
            "reset-of-a-block": is_reset & ~empty & ~leaves,
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="A block with an address is offered to the compressor when its set is full, at its limit, "
    "at a synchronisation or when its thread leaves, with that cause, until it is taken. Its sets "
    "are emptied in that cycle and no other, except by RESET, so no address is lost and none is "
    "sent twice. An item takes effect once the block before it has left, and waits for nothing "
    "but room for that and for its trap.",
    sizes="any items",
    harness=BlockHarness,
    depth=1,
    events=(
        "full-before-an-item", "at-the-limit-with-the-next", "waits-for-the-compressor",
        "reset-of-a-block",
    ),
    bugs={
        "emptied-before-it-is-taken": Patch(
            _FILE, "leaves & (self.i_is_empty | self.o_block.ready)", "leaves"
        ),
        "not-emptied": Patch(
            _FILE, "is_over | (self.o_step & (op == CoreOp.RESET))",
            "(self.o_step & self.o_ends) | (self.o_step & (op == CoreOp.RESET))",
        ),
        "inserted-while-it-waits": Patch(
            _FILE, "self.o_insert.eq(self.o_step & collects)",
            "self.o_insert.eq(self.i_valid & collects)",
        ),
        "limit-is-forgotten": Patch(
            _FILE, "with m.Elif(is_over):", "with m.Elif(self.i_valid):"
        ),
        "empty-block-sent": Patch(
            _FILE, "self.o_block.valid.eq(leaves & ~self.i_is_empty)",
            "self.o_block.valid.eq(leaves)",
        ),
    },
    cycles=6,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
