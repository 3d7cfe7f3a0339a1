"""Bugs to be planted in a copy of SigRace's RTL: the testbench must find every one of them.

Each is a plausible slip in one block.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.sim.cosim.verilator.patch import Patch


@dataclass(frozen=True)
class PlantedBug:
    """A bug, and the testbench module whose test must fail with it."""

    patch: Patch
    testbench: str = "random_tests"

    @property
    def part(self) -> str:
        """Part of the system that is built."""
        return "rdm" if self.testbench == "message_tests" else ""


def _bug(file: str, before: str, after: str, testbench: str = "random_tests") -> PlantedBug:
    return PlantedBug(Patch(file, before, after), testbench)


PLANTED_BUGS: dict[str, PlantedBug] = {
    # Core units
    "splitter-forgets-unaligned-end": _bug(
        "sigrace/granule_splitter.py",
        "event.data[:GRANULE_LOG2] + event.size + round_up",
        "event.size + round_up",
    ),
    "set-keeps-bitmap-of-last-block": _bug(
        "sigrace/address_set.py",
        "m.d.sync += [held.bitmap.eq(0), held.count.eq(is_new), held.is_empty.eq(~is_new)]",
        "m.d.sync += [held.count.eq(is_new), held.is_empty.eq(~is_new)]",
    ),
    "set-full-one-value-early": _bug(
        "sigrace/address_set.py",
        "held.count == self._params.usb_limit",
        "held.count == self._params.usb_limit - 1",
    ),
    "timestamp-sent-after-increment": _bug(
        "sigrace/core_unit.py",
        "block.timestamp.eq(state.o_timestamp)",
        "block.timestamp.eq(state.o_timestamp + ((controller.o_block.payload == 2)"
        " << (state.o_thread * self._params.timestamp_bits)))",
    ),
    "timestamp-wraps": _bug(
        "sigrace/timestamp.py",
        "Mux(self.o_own == params.max_counter, self.o_own, self.o_own + 1)",
        "(self.o_own + 1)",
        "corner_tests",
    ),
    "sequence-not-incremented": _bug(
        "sigrace/core_unit.py", "sequence.eq(sequence + 1)", "sequence.eq(sequence)"
    ),
    "trap-of-last-granule-only": _bug(
        "sigrace/controller.py",
        "self.o_trap_valid.eq(self.o_step & collects & self.i_hits)",
        "self.o_trap_valid.eq(self.o_step & collects & self.i_hits & self.i_item.is_last)",
        "corner_tests",
    ),
    # Way of a message
    "runs-lose-first-value": _bug(
        "sigrace/set_decoder.py",
        "(self._start <= bit) & (self._position > bit)",
        "(self._start < bit) & (self._position > bit)",
        "message_tests",
    ),
    "decompressor-takes-longer-messages": _bug(
        "sigrace/decompressor.py",
        "unpacker.o_ended & (unpacker.o_count < FLIT_BITS)",
        "unpacker.o_ended",
        "message_tests",
    ),
    "arbiter-mixes-messages": _bug(
        "common/message_arbiter.py",
        "with m.Elif(register.i.valid & register.i.ready & register.i.p.flit.last):",
        "with m.Elif(register.i.valid & register.i.ready):",
        "message_tests",
    ),
    # Race Detection Module
    "mapping-of-other-core-accepted": _bug(
        "sigrace/core_to_thread.py",
        "is_place & (header.core == self.i_link)",
        "is_place",
        "message_tests",
    ),
    "gap-not-forgiven": _bug(
        "sigrace/core_to_thread.py",
        "is_own = (self.o_drop == Drop.NONE) | (self.o_drop == Drop.SEQUENCE)",
        "is_own = self.o_drop == Drop.NONE",
        "message_tests",
    ),
    "mapping-out-of-range-taken": _bug(
        "sigrace/core_to_thread.py", "with m.If(is_selected):", "if True:", "register_tests"
    ),
    "equal-timestamps-precede": _bug(
        "sigrace/timestamp_comparator.py",
        "entry_other < message_other",
        "entry_other <= message_other",
        "message_tests",
    ),
    "null-if-all-filters-are-empty": _bug(
        "sigrace/intersection.py", "has_bit.all()", "has_bit.any()", "message_tests"
    ),
    "queue-one-entry-short": _bug(
        "sigrace/history_queue.py",
        "with m.If(self.o_count != depth):",
        "with m.If(self.o_count != depth - 1):",
        "message_tests",
    ),
    "lost-window-with-predecessor": _bug(
        "sigrace/scanner.py",
        "self.o_lost.eq(is_full & ~precedes)",
        "self.o_lost.eq(is_full)",
        "message_tests",
    ),
    "own-queue-compared": _bug(
        "sigrace/queue_search.py",
        "(self.o_other == self.i_thread) | (queues.o_count == 0)",
        "(queues.o_count == 0)",
        "message_tests",
    ),
    "flush-forgets-first-queue": _bug(
        "sigrace/history_queue.py",
        "[count.eq(0) for count in counts]",
        "[count.eq(0) for count in list(counts)[1:]]",
        "message_tests",
    ),
    "rollback-one-block-early": _bug(
        "sigrace/conflict_log.py",
        "Mux(blocks == most, Const(Reason.BLOCKS, 3), 0)",
        "Mux(blocks + 1 >= most, Const(Reason.BLOCKS, 3), 0)",
    ),
}
