"""Proof: the conflict log counts and keeps what it is given, and requests a rollback rightly."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/conflict_log.py"
_PARAMS = SigraceParams(
    cores=2, threads=2, filters=2, filter_bits=16, timestamp_bits=2, usb_limit=2, log_depth=3,
    log_blocks=2,
)  # fmt: skip
_DEPTH, _WORDS, _MOST = _PARAMS.log_depth, _PARAMS.log_words, _PARAMS.log_blocks
_SYNC = 2


class LogHarness(Harness):
    """A log with free conflicts, none while it is full; one entry, any, is watched.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._log = self._module.ConflictLog(_PARAMS)
        super().__init__(case, {
            "i_valid": In(1), "i_entry": In(_PARAMS.log_layout.width), "i_pushed": In(1),
            "i_thread": In(8), "i_cause": In(3), "i_clear": In(1), "i_select": In(16),
            "i_word": In(16), "i_watch": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        log = self._log
        with mock.patch.object(self._module, "Memory", OpenMemory):
            inner = OpenComponent(log)
        m.submodules.log = inner.fragment
        m.d.comb += [
            log.i_entry.valid.eq(self.i_valid), Value.cast(log.i_entry.p).eq(self.i_entry),
            log.i_pushed.eq(self.i_pushed), log.i_thread.eq(self.i_thread),
            log.i_cause.eq(self.i_cause), log.i_clear.eq(self.i_clear),
            log.i_select.eq(self.i_select), log.i_word.eq(self.i_word),
            Assume(~(self.i_valid & log.o_full)),
        ]  # fmt: skip
        count, watching, number = Signal(3), Signal(), Signal(3)
        watched = Signal(_WORDS * 32)
        m.d.sync += count.eq(Mux(self.i_clear, 0, count + self.i_valid))
        with m.If(self.i_clear):
            m.d.sync += watching.eq(0)
        with m.Elif(self.i_valid & self.i_watch & ~watching):
            m.d.sync += [watching.eq(1), number.eq(count), watched.eq(self.i_entry)]
        rules = [
            log.o_count == count, log.o_full == (count == _DEPTH), count <= _DEPTH,
            *self._reads(m, count, watching, number, watched), log.o_reasons == self._reasons(m,
            count, inner),
        ]  # fmt: skip
        rows = [inner[f"memory.row_{k}"] for k in range(_DEPTH)]
        helps = [
            ~watching | (number < count),
            *(~(watching & (number == k)) | (row == watched) for k, row in enumerate(rows)),
            *self._kept,
        ]
        events = {
            "full": count == _DEPTH,
            "cleared-while-full": self.i_clear & (count == _DEPTH),
            "third-read": self._asked & (number == 2) & (watched != 0),
            "all-reasons": log.o_reasons == 7,
        }
        self.state(m, rules, events, helps)
        return m

    def _reads(self, m: Module, count, watching, number, watched) -> list[Value]:
        """The word selected in the cycle before."""
        log = self._log
        self._asked, nothing = Signal(name="asked"), Signal()
        word, selected = Signal(16), Signal.like(watched)
        is_there = (self.i_select < count) & (self.i_word < _WORDS)
        m.d.sync += [
            self._asked.eq(watching & (self.i_select == number) & (self.i_word < _WORDS)),
            nothing.eq(~is_there), word.eq(self.i_word), selected.eq(watched),
        ]  # fmt: skip
        expected = selected.word_select(word[: (_WORDS - 1).bit_length()], 32)
        stable = self.i_word == word
        return [
            ~(self._asked & stable) | (log.o_word == expected),
            ~nothing | (log.o_word == 0),
        ]

    def _reasons(self, m: Module, count, inner) -> Value:
        """Full; more blocks of the thread with the first conflict; its synchronisation."""
        first, messages = Signal(8), Signal(2)
        full, blocks, sync = Signal(), Signal(), Signal()
        own = self.i_pushed & (count != 0) & (self.i_thread == first)
        with m.If(self.i_valid & (count == 0)):
            m.d.sync += [first.eq(self.i_entry[:8]), messages.eq(0)]
        with m.If(own):
            # That which found the conflict is the first; its own queueing is not counted.
            m.d.sync += messages.eq(messages + (messages < _MOST))
            m.d.sync += [
                blocks.eq(blocks | (messages == _MOST)), sync.eq(sync | (self.i_cause == _SYNC)),
            ]  # fmt: skip
        with m.If(self.i_pushed & (count == _DEPTH)):
            m.d.sync += full.eq(1)
        with m.If(self.i_clear):
            m.d.sync += [full.eq(0), blocks.eq(0), sync.eq(0)]
        self._kept = [
            (count == 0) | ((inner["first"] == first) & (inner["blocks"] == messages)),
            (count == 0) | (messages <= _MOST), (count != 0) | ~Cat(blocks, sync, full).any(),
        ]  # fmt: skip
        return Cat(full, blocks, sync)


PROOF = Proof(
    rule="The log counts its conflicts, keeps each, and gives any word of it a cycle after its "
    "selection, 0 where none is. It requests a rollback when a message is queued while it is full, "
    "when the thread with the first conflict has sent the set number of messages since, and when "
    "that thread synchronises.",
    sizes="3 conflicts, 2 messages, 2 threads",
    harness=LogHarness,
    depth=2,
    events=("full", "cleared-while-full", "third-read", "all-reasons"),
    bugs={
        "full-one-early": Patch(
            _FILE, "self.o_full.eq(self.o_count == self._params.log_depth)",
            "self.o_full.eq(self.o_count >= self._params.log_depth - 1)",
        ),
        "first-thread-is-the-last": Patch(
            _FILE, "with m.If(self.i_entry.valid & (self.o_count == 0)):",
            "with m.If(self.i_entry.valid):",
        ),
        "one-block-too-many": Patch(
            _FILE, "Mux(blocks == most, Const(Reason.BLOCKS, 3), 0)",
            "Mux(blocks >= most - 1, Const(Reason.BLOCKS, 3), 0)",
        ),
        "clear-keeps-reasons": Patch(
            _FILE, "[self.o_count.eq(0), self.o_reasons.eq(0)]", "[self.o_count.eq(0)]"
        ),
        "word-beyond-the-count": Patch(
            _FILE, "(self.i_select < self.o_count)", "(self.i_select <= self.o_count)"
        ),
    },
    cycles=10,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
