"""Proof: a message is dropped for the right reason, and no gap in a context's numbers is missed."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/core_to_thread.py"
_PARAMS = SigraceParams(cores=3, contexts=2, threads=3, sequence_bits=2)
_CORES, _CONTEXTS, _THREADS = _PARAMS.cores, _PARAMS.contexts, _PARAMS.threads
_NONE, _MALFORMED, _UNMAPPED, _THREAD, _SEQUENCE = range(5)


class OriginHarness(Harness):
    """Free messages, mappings and selections; the table is kept a second time beside it.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._table = modules_with([_FILE], case.bug)[_FILE].CoreToThread(_PARAMS)
        super().__init__(case, {
            "i_core": In(8), "i_context": In(4), "i_thread": In(8), "i_sequence": In(8),
            "i_link": In(range(_CORES)), "i_is_malformed": In(1), "i_follow": In(1),
            "i_is_checked": In(1), "i_place_core": In(8), "i_place_context": In(4),
            "i_maps": In(1), "i_mapping": In(9),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        table = self._table
        inner = OpenComponent(table)
        m.submodules.table = inner.fragment
        header = table.i_header
        m.d.comb += [
            header.core.eq(self.i_core), header.context.eq(self.i_context),
            header.thread.eq(self.i_thread), header.sequence.eq(self.i_sequence),
            table.i_link.eq(self.i_link), table.i_is_malformed.eq(self.i_is_malformed),
            table.i_follow.eq(self.i_follow), table.i_is_checked.eq(self.i_is_checked),
            table.i_place.core.eq(self.i_place_core),
            table.i_place.context.eq(self.i_place_context),
            table.i_mapping.valid.eq(self.i_maps),
            Cat(table.i_mapping.p.thread, table.i_mapping.p.valid).eq(self.i_mapping),
            Assume(self.i_link < _CORES), Assume(self.i_sequence < 1 << _PARAMS.sequence_bits),
        ]  # fmt: skip
        places = [(core, context) for core in range(_CORES) for context in range(_CONTEXTS)]
        threads, exist, numbers = (
            [Signal(width, name=f"{name}_{k}") for k in range(len(places))]
            for name, width in (("thread", 8), ("exists", 1), ("number", _PARAMS.sequence_bits))
        )
        drop, mapping, number = Signal(3), Signal(9), Signal(_PARAMS.sequence_bits)
        m.d.comb += drop.eq(Mux(self.i_is_malformed, _MALFORMED, _UNMAPPED))
        for k, (core, context) in enumerate(places):
            is_here = (self.i_core == core) & (self.i_context == context) & (self.i_link == core)
            is_own = (self.i_thread == threads[k]) & (self.i_thread < _THREADS)
            follows = Mux(self.i_is_checked, exist[k] & is_own, 1)
            with m.If(is_here & ~self.i_is_malformed):
                with m.If(exist[k] & ~is_own):
                    m.d.comb += drop.eq(_THREAD)
                with m.Elif(exist[k]):
                    m.d.comb += drop.eq(Mux(self.i_sequence == numbers[k], _NONE, _SEQUENCE))
                with m.If(self.i_follow & follows):
                    m.d.sync += numbers[k].eq(self.i_sequence + 1)
            with m.If((self.i_place_core == core) & (self.i_place_context == context)):
                m.d.comb += [mapping.eq(Cat(threads[k], exist[k])), number.eq(numbers[k])]
                with m.If(self.i_maps):
                    m.d.sync += Cat(threads[k], exist[k]).eq(self.i_mapping)
        # A message lost between two of a context that are both taken.
        gap = Array(numbers)[1] != self.i_sequence
        rules = [
            table.o_drop == drop,
            Cat(table.o_mapping.thread, table.o_mapping.valid) == mapping,
            table.o_expected == number,
        ]
        helps = [
            one
            for k in range(len(places))
            for one in (
                inner[f"mapping_{k}"] == Cat(threads[k], exist[k]),
                inner[f"expected_{k}"] == numbers[k],
            )
        ]
        events = {
            "gap": (drop == _SEQUENCE) & gap & self.i_follow & (self.i_core == 0),
            "wrapped": (drop == _NONE) & self.i_follow & (self.i_sequence == 3),
            "other-thread": (drop == _THREAD) & (self.i_thread < _THREADS),
            "wrong-link": (drop == _UNMAPPED) & (self.i_core == 2) & exist[4],
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="A message is taken if and only if it is well formed, came over its core's link, its "
    "context has that thread, and its number is one more than that of the context's message "
    "before; else the first of these that fails is the reason. After a gap, the number behind the "
    "message that showed it is expected. No other place and no other thread changes that.",
    sizes="3 cores of 2 contexts, 3 threads, numbers of 2 bits",
    harness=OriginHarness,
    depth=1,
    events=("gap", "wrapped", "other-thread", "wrong-link"),
    bugs={
        "gap-is-missed": Patch(
            _FILE, "header.sequence != expected[index]", "header.sequence < expected[index]"
        ),
        "stuck-after-a-gap": Patch(
            _FILE, "(self.o_drop == Drop.NONE) | (self.o_drop == Drop.SEQUENCE)",
            "self.o_drop == Drop.NONE",
        ),
        "any-link": Patch(_FILE, "is_place & (header.core == self.i_link)", "is_place"),
        "context-of-another-core": Patch(
            _FILE, "core * params.contexts + context", "core + context * params.contexts"
        ),
        "thread-does-not-exist": Patch(_FILE, "(header.thread < params.threads) & ", ""),
    },
    cycles=6,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
