"""Proof: a program that maintains the cache where it must sees one memory, of any word."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import combinations
from unittest import mock

import pytest
from amaranth.hdl import Array, Assume, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.rtl.soc.cache import CacheParams, Maintenance
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.formal.prover import holds_always
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import CACHE, CACHE_BUGS, CACHE_FILES, WAY_BUGS

_WORDS, _SETS = 2, 2


def _params(ways: int, write_through: bool = False) -> CacheParams:
    return CacheParams(_SETS * ways, 4 * _WORDS, write_through, ways)


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
        The cache, with two sets of lines of two words.
    """

    def __init__(self, case: Case, params: CacheParams):
        self._params = params
        self._modules = modules_with(CACHE_FILES, case.bug)
        self._cache = self._modules[CACHE].Cache(params)
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

        with ExitStack() as stack:
            for module in self._modules.values():
                stack.enter_context(mock.patch.object(module, "Memory", open_memory))
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
        helps, present, dirty, is_replaced = self._places(inner, memories[0], is_in)
        events = {
            "hit": cpu.ready & is_own & self.i_is_cached & present & ~memory.valid,
            "newest-is-only-here": present & dirty & (self._behind != self._newest),
            "another-line-in-its-place": is_replaced,
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
        """What holds of the watched word in the cache; whether it is there, and dirty, and whether
        another line is just filled in its place."""
        params, index, now = self._params, inner["index"], inner["word"]
        line, word, own_set = self.i_watched[1:], self.i_watched[0], self.i_watched[1]
        rows = Array(inner[f"data.row_{number}"] for number in range(params.lines * _WORDS))
        tags = Array(inner[f"tags.row_{number}"] for number in range(params.sets))[own_set]
        tags = Value.cast(tags)
        of_line = self.i_address[1:] == line
        is_own = of_line & (self.i_address[0] == word)
        maintains, read = inner["is_maintaining"], values.read_ports[0].data
        mask = Cat(bit.replicate(8) for bit in self.i_wstrb)
        is_written = self.i_is_cached & is_own & (is_in["ANSWER"] | is_in["PASS"])
        due = Mux(is_written, self._newest & ~mask | self.i_wdata & mask, self._newest)
        moves, fills = is_in["EVICT"] | is_in["WRITE_BACK"], is_in["FILL"]
        accesses = is_in["LOOK_UP"] | is_in["ANSWER"] | fills
        through = Const(params.write_through)
        ways = [
            _Way(inner, Cat(own_set, Const(way, len(index) - 1)), tag == line[1:])
            for way, tag in enumerate(_parts(tags, params.ways))
        ]
        present = Cat(way.present for way in ways).any()
        dirty = Cat(way.present & way.dirty for way in ways).any()
        helps = [
            (present & dirty) | (self._behind == self._newest),
            (inner["dirty"] & ~inner["valid"]) == 0,
            ~fills | ~inner["dirty"].bit_select(index, 1),
            ~(fills & of_line) | ~present,
            ~(fills & of_line & (now > word)) | (rows[Cat(word, index)] == self._behind),
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
            moves | fills | is_in["IDLE"] | (now == 0),
            ~(is_in["ANSWER"] & is_own) | present,
            ~(is_in["ANSWER"] & is_own & (self.i_wstrb == 0)) | (read == self._newest),
            ~(is_in["ANSWER"] & is_own & self.i_wstrb.any()) | dirty,
            ~through | ~inner["dirty"].any(),
        ]  # fmt: skip
        for way in ways:
            is_past = maintains & self.i_is_all & (way.place < inner["walk"])
            helps += [
                ~way.present | (fills & (index == way.place)) | (rows[Cat(word, way.place)] == due),
                ~(moves & (index == way.place) & way.present & (now > word))
                | (self._behind == self._newest),
                ~is_past | (self.i_kind == Maintenance.INVALIDATE) | ~(way.present & way.dirty),
                ~is_past | (self.i_kind == Maintenance.CLEAN) | ~way.present,
            ]
        helps += [~(one.present & other.present) for one, other in combinations(ways, 2)]
        replaced = Cat(way.present & (index == way.place) for way in ways).any()
        return helps, present, dirty, fills & replaced


class _Way:
    """A line that may hold the watched word: its place, whether it does, whether it is dirty."""

    def __init__(self, inner, place, is_of_tag):
        self.place, self.dirty = place, inner["dirty"].bit_select(place, 1)
        self.present = inner["valid"].bit_select(place, 1) & is_of_tag


def _parts(value: Value, count: int) -> list[Value]:
    bits = len(value) // count
    return [value[number * bits :][:bits] for number in range(count)]


PROOF = Proof(
    rule="Each read of a word gives the newest value: of the CPU's last write, or of an engine's "
    "into memory while the word's line was out. After a clean or flush, of the line or of all, "
    "memory has that value. Software invalidates only what memory has. It and the engine access "
    "memory only while the line is out: from an invalidation or flush to the CPU's next access "
    "through the cache.",
    sizes="2 ways of 2 lines of 2 words, any word of 32 address bits, write-back; also 1 and 4 "
    "ways, and each number with write-through",
    harness=partial(CacheHarness, params=_params(2)),
    depth=2,
    events=(
        "hit", "newest-is-only-here", "another-line-in-its-place", "engine-has-written",
        "flush-of-all",
    ),
    bugs=CACHE_BUGS | WAY_BUGS,
    cycles=26,
)  # fmt: skip
_ONE_WAY = replace(
    PROOF, harness=partial(CacheHarness, params=_params(1)), bugs=CACHE_BUGS, cycles=20
)

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
test_one_way_holds, test_can_happen_in_one_way, test_bug_shows_in_one_way = proof_tests(_ONE_WAY)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("ways", "write_through"), [(4, False), *((ways, True) for ways in (1, 2, 4))]
)
def test_others_hold(ways, write_through):
    assert holds_always(CacheHarness(Case(), _params(ways, write_through)), depth=2)
