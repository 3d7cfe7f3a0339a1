"""Proof: a bit scanner gives the position of each set bit once, ascending, and marks the last."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/bit_scanner.py"
_BITS, _WORD = 128, 32


class ScannerHarness(Harness):
    """A scanner whose vector stays while positions are due.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._scanner = modules_with([_FILE], case.bug)[_FILE].BitScanner(_BITS)
        super().__init__(case, {"i_start": In(1), "i_bits": In(_BITS), "i_ready": In(1)})

    def elaborate(self, platform):
        m = Module()
        scanner = self._scanner
        inner = OpenComponent(scanner)
        m.submodules.scanner = inner.fragment
        # Bits whose position is due; the vector that they are of; a start was the cycle before.
        due, vector, young = Signal(_BITS), Signal(_BITS), Signal()
        position = scanner.o.p.position
        m.d.comb += [
            scanner.i_start.eq(self.i_start), scanner.i_bits.eq(self.i_bits),
            scanner.o.ready.eq(self.i_ready),
            Assume((due == 0) | self.i_start | (self.i_bits == vector)),
        ]  # fmt: skip
        got = scanner.o.valid & self.i_ready
        m.d.sync += [young.eq(self.i_start), vector.eq(self.i_bits)]
        with m.If(self.i_start):
            m.d.sync += due.eq(self.i_bits)
        with m.Elif(got):
            m.d.sync += due.eq(due & (due - 1))
        lowest = due & (~due + 1)[:_BITS]
        rules = [
            ~scanner.o.valid | (due.bit_select(position, 1) & lowest.bit_select(position, 1)),
            ~scanner.o.valid | (scanner.o.p.last == ((due & (due - 1)) == 0)),
            scanner.o.valid == ((due != 0) & ~young),
        ]
        word, number, remaining = inner["word"], inner["number"], inner["remaining"]
        words = [vector[low : low + _WORD] for low in range(0, _BITS, _WORD)]
        held = Cat(
            Mux(remaining[k], part, 0) | Mux(number == k, word, 0) for k, part in enumerate(words)
        )
        helps = [
            due == held, ~young | (word == 0), word.any() | young | (remaining == 0),
            ~remaining.bit_select(number, 1) | ~word.any(),
            *(~remaining[k] | part.any() for k, part in enumerate(words)),
            *(~(word.any() & remaining[k]) | (number < k) for k in range(len(words))),
            (word & ~Array(words)[number]) == 0,
        ]  # fmt: skip
        events = {
            "from-word-to-word": got & ~scanner.o.p.last & (word & (word - 1) == 0),
            "restarted-early": self.i_start & (due != 0),
            "highest": got & (position == _BITS - 1) & scanner.o.p.last,
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="After a start, the position of each set bit is offered once and ascending, from the "
    "second cycle on and without a gap; the highest is marked. A new start forgets what is due.",
    sizes="128 bits, in 4 words",
    harness=ScannerHarness,
    depth=2,
    events=("from-word-to-word", "restarted-early", "highest"),
    bugs={
        "start-keeps-the-word": Patch(
            _FILE, "m.d.sync += [word.eq(0), remaining.eq", "m.d.sync += [remaining.eq"
        ),
        "last-of-its-word": Patch(
            _FILE, "~others.any() & ~remaining.any()", "~others.any()"
        ),
        "word-skipped": Patch(
            _FILE, "remaining.eq(remaining & (remaining - 1))",
            "remaining.eq(remaining & (remaining - 1) & ~(remaining[1] << 2))",
        ),
        "next-word-too-early": Patch(
            _FILE, "~others.any() & (~self.o.valid | self.o.ready)", "~others.any()"
        ),
    },
    cycles=8,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
