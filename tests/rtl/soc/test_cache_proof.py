"""Proof: a program that maintains the cache where it must sees one memory, of any word."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest
from amaranth.hdl import Array, Assume, Cat, Const, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.rtl.soc.cache import CacheParams, Maintenance
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.formal.prover import holds_always
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import CACHE, CACHE_BUGS

_WORDS = 2
_PARAMS = CacheParams(2, 4 * _WORDS)


class CacheHarness(Harness):
    """A cache with a free CPU and a free engine; one word of memory, any, is watched.

    The CPU keeps an access and its maintenance until they are done, invalidates the word only while
    memory has its newest value, and accesses it uncached only while its line is out: from an
    invalidation or a flush until the next cached access to the line.  Then the engine may write it.

    Parameters
    ----------
    case : Case
        What is asked.
    params : CacheParams
        The cache, with two lines of two words.
    """

    def __init__(self, case: Case, params: CacheParams = _PARAMS):
        self._params = params
        self._module = modules_with([CACHE], case.bug)[CACHE]
        self._cache = self._module.Cache(params)
        super().__init__(case, {
            "i_watched": In(30), "i_access": In(1), "i_address": In(30), "i_wdata": In(32),
            "i_wstrb": In(4), "i_is_cached": In(1), "i_maintains": In(1), "i_kind": In(2),
            "i_line": In(30), "i_is_all": In(1), "i_ready": In(1), "i_rdata": In(32),
            "i_engine": In(1), "i_written": In(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        cache, memories = self._cache, []

        def open_memory(**arguments):
            memories.append(OpenMemory(**arguments))
            return memories[-1]

        with mock.patch.object(self._module, "Memory", open_memory):
            inner = OpenComponent(cache)
        m.submodules.cache = inner.fragment
        cpu, maintenance, memory = cache.cpu, cache.maintenance, cache.memory
        watched = self.i_watched
        m.d.comb += [
            cpu.valid.eq(self.i_access), cpu.address.eq(Cat(0, 0, self.i_address)),
            cpu.wdata.eq(self.i_wdata), cpu.wstrb.eq(self.i_wstrb),
            cache.i_is_cached.eq(self.i_is_cached), maintenance.valid.eq(self.i_maintains),
            maintenance.kind.eq(self.i_kind), maintenance.is_all.eq(self.i_is_all),
            maintenance.address.eq(Cat(0, 0, self.i_line)), memory.ready.eq(self.i_ready),
        ]  # fmt: skip
        self._stay(m, cpu, maintenance)
        self._keep(m, cpu, maintenance, memory)
        is_own = self.i_access & (self.i_address == watched)
        rules = [
            ~(cpu.ready & is_own & (self.i_wstrb == 0)) | (cpu.rdata == self._newest),
            ~(maintenance.ready & self._is_meant & (self.i_kind != Maintenance.INVALIDATE))
            | (self._behind == self._newest),
        ]
        # The decoder gives "IDLE/0".
        state = inner["fsm_state"]
        is_in = {state.decoder(at).partition("/")[0]: state == at for at in range(1 << len(state))}
        helps, present, dirty = self._places(inner, memories[0], is_in)
        events = {
            "hit": cpu.ready & is_own & self.i_is_cached & present & ~memory.valid,
            "newest-is-only-here": present & dirty & (self._behind != self._newest),
            "another-line-in-its-place": present & is_in["FILL"],
            "engine-has-written": is_own & self.i_is_cached & self._has_written & cpu.ready,
            "flush-of-all": maintenance.ready & self.i_is_all & self._is_meant
            & (self.i_kind == Maintenance.FLUSH),
        }  # fmt: skip
        self.state(m, rules, events, helps)
        return m

    def _stay(self, m, cpu, maintenance):
        """What is asked stays until it is done; the watched word is always the same."""
        access = Cat(self.i_address, self.i_wdata, self.i_wstrb, self.i_is_cached)
        asked = Cat(self.i_kind, self.i_line, self.i_is_all)
        for name, valid, ready, payload in (
            ("access", self.i_access, cpu.ready, access),
            ("maintenance", self.i_maintains, maintenance.ready, asked),
            ("watched", Const(1), Const(0), self.i_watched),
        ):
            stays, kept = Signal(name=f"{name}_stays"), Signal.like(payload, name=f"kept_{name}")
            m.d.sync += [stays.eq(valid & ~ready), kept.eq(payload)]
            m.d.comb += Assume(~stays | (valid & (kept == payload)))
        m.d.comb += [
            Assume(~self.i_ready | self._cache.memory.valid),
            Assume(self.i_kind <= Maintenance.FLUSH),
        ]

    def _keep(self, m, cpu, maintenance, memory):
        """The watched word: its newest value, what memory has, and whether its line is out."""
        watched, line = self.i_watched, self.i_watched[1:]
        self._newest, self._behind = Signal(32, name="newest"), Signal(32, name="behind")
        self._is_out, self._has_written = Signal(init=1, name="is_out"), Signal(name="has_written")
        self._is_meant = Signal(name="is_meant_by_maintenance")
        brings, accesses = Signal(name="brings"), Signal(name="accesses")
        mask = Cat(bit.replicate(8) for bit in self.i_wstrb)
        m.d.comb += [
            brings.eq(self.i_access & self.i_is_cached & (self.i_address[1:] == line)),
            accesses.eq(self.i_access & (self.i_address == watched)),
            self._is_meant.eq(self.i_is_all | (self.i_line[1:] == line)),
            memory.rdata.eq(Mux(memory.address[2:] == watched, self._behind, self.i_rdata)),
            Assume(~accesses | self.i_is_cached | self._is_out),
            Assume(~self.i_engine | (self._is_out & ~brings & ~accesses)),
            Assume(
                ~(self.i_maintains & self._is_meant & (self.i_kind == Maintenance.INVALIDATE))
                | (self._behind == self._newest)
            ),
        ]
        with m.If(maintenance.ready & self._is_meant & (self.i_kind != Maintenance.CLEAN)):
            m.d.sync += self._is_out.eq(1)
        with m.Elif(brings):
            m.d.sync += self._is_out.eq(0)
        with m.If(cpu.ready & accesses):
            m.d.sync += [
                self._newest.eq(self._newest & ~mask | self.i_wdata & mask),
                self._has_written.eq(0),
            ]
        written = Cat(bit.replicate(8) for bit in memory.wstrb)
        with m.If(memory.ready & (memory.address[2:] == watched)):
            m.d.sync += self._behind.eq(self._behind & ~written | memory.wdata & written)
        with m.If(self.i_engine):
            m.d.sync += [
                self._newest.eq(self.i_written), self._behind.eq(self.i_written),
                self._has_written.eq(1),
            ]  # fmt: skip

    def _places(self, inner, values, is_in):
        """What holds of the watched word in the cache; whether it is there, and dirty."""
        line, word, place = self.i_watched[1:], self.i_watched[0], self.i_watched[1]
        valid, dirty = (inner[name].bit_select(place, 1) for name in ("valid", "dirty"))
        tags = Array(inner[f"tags.row_{number}"] for number in range(2))
        rows = Array(inner[f"data.row_{number}"] for number in range(2 * _WORDS))
        index, now = inner["index"], inner["word"]
        of_line, is_here = self.i_address[1:] == line, index == place
        is_own = of_line & (self.i_address[0] == word)
        maintains, read = inner["is_maintaining"], values.read_ports[0].data
        present, row = valid & (tags[place] == line[1:]), rows[Cat(word, place)]
        mask = Cat(bit.replicate(8) for bit in self.i_wstrb)
        is_written = self.i_is_cached & is_own & (is_in["ANSWER"] | is_in["PASS"])
        due = Mux(is_written, self._newest & ~mask | self.i_wdata & mask, self._newest)
        moves = is_in["EVICT"] | is_in["WRITE_BACK"]
        accesses = is_in["LOOK_UP"] | is_in["ANSWER"] | is_in["FILL"]
        fills = is_in["FILL"] & is_here
        is_past = maintains & self.i_is_all & (place < inner["walk"])
        through = Const(self._params.write_through)
        helps = [
            ~present | fills | (row == due),
            (present & dirty) | (self._behind == self._newest),
            (inner["dirty"] & ~inner["valid"]) == 0,
            ~fills | ~dirty,
            ~(fills & of_line) | ~present,
            ~(fills & of_line & (now > word)) | (row == self._behind),
            ~self._is_out | ~present,
            ~((accesses | moves & ~maintains) & of_line) | ~self._is_out,
            ~accesses | (self.i_access & self.i_is_cached & ~maintains),
            ~is_in["PASS"] | (self.i_access & ~maintains),
            ~is_in["PASS"] | ~self.i_is_cached | (through & self.i_wstrb.any()),
            ~is_in["IDLE"] | ~maintains,
            ~is_in["MAINTAIN"] | maintains,
            ~maintains | self.i_maintains,
            ~moves | inner["valid"].bit_select(index, 1) & inner["dirty"].bit_select(index, 1),
            ~moves | Mux(maintains, self.i_kind != Maintenance.INVALIDATE,
                         self.i_access & self.i_is_cached),
            ~moves | maintains | ~inner["hit"],
            ~is_in["WRITE_BACK"] | (read == rows[Cat(now, index)]),
            ~(moves & is_here & present & (now > word)) | (self._behind == self._newest),
            moves | is_in["FILL"] | is_in["IDLE"] | (now == 0),
            ~(is_in["ANSWER"] & is_own) | present,
            ~(is_in["ANSWER"] & is_own & (self.i_wstrb == 0)) | (read == self._newest),
            ~(is_in["ANSWER"] & is_own & self.i_wstrb.any()) | dirty,
            ~is_past | (self.i_kind == Maintenance.INVALIDATE) | ~(present & dirty),
            ~is_past | (self.i_kind == Maintenance.CLEAN) | ~present,
            ~through | ~inner["dirty"].any(),
        ]  # fmt: skip
        return helps, present, dirty


PROOF = Proof(
    rule="Each read of a word gives the newest value: of the CPU's last write, or of an engine's "
    "into memory while the word's line was out. After a clean or flush, of the line or of all, "
    "memory has that value. Software invalidates only what memory has. It and the engine access "
    "memory only while the line is out: from an invalidation or flush to the CPU's next access "
    "through the cache.",
    sizes="2 lines of 2 words, any word of 32 address bits, write-back; also write-through",
    harness=CacheHarness,
    depth=2,
    events=(
        "hit", "newest-is-only-here", "another-line-in-its-place", "engine-has-written",
        "flush-of-all",
    ),
    bugs=CACHE_BUGS,
    cycles=20,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
def test_write_through_holds():
    params = replace(_PARAMS, write_through=True)
    assert holds_always(CacheHarness(Case(), params), depth=2)
