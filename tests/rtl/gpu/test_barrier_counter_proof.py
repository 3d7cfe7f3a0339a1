"""Proof: a barrier leaves exactly when enough warps have arrived, and names those that waited."""

from unittest import mock

from amaranth.hdl import Array, Assume, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.outcome_hold import operation_layout
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE, _KIND = "gpu/barrier_counter.py", IssueKind
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=2, address_bits=16, pc_bits=8, lanes=1
)
_LAYOUT = operation_layout(_PARAMS)
#: The counter's states, in the order in which it names them.
_PASS, _ARRIVE, _EXIT, _COUNT, _END = range(5)


class CounterHarness(Harness):
    """A counter with the instructions of one block slot; one barrier number, any, is watched.

    Warps act in a block that has started, and not behind their end.  What is offered stays until it
    is taken.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._counter = self._module.BarrierCounter(_PARAMS)
        super().__init__(case, {
            "i_valid": In(1), "i_item": In(_LAYOUT), "i_ready": In(1), "i_number": In(4),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        part, item, memories = self._counter, self.i_item, []

        def open_memory(shape, depth, init=()):
            memories.append(OpenMemory(shape=shape, depth=depth, init=[]))
            return memories[-1]

        with (
            mock.patch.object(self._module, "Memory", open_memory),
            mock.patch.object(self._module, "block_memory", open_memory),
        ):
            inner = OpenComponent(part)
        m.submodules.counter = inner.fragment
        m.d.comb += [
            part.i.valid.eq(self.i_valid), part.i.payload.eq(item), part.o.ready.eq(self.i_ready)
        ]  # fmt: skip
        self._reference(m)
        self._assume(m)
        rows = memories[0]
        rules = self._rules(m)
        events = {
            "barrier": self._passes & (part.o.payload.kind == _KIND.BARRIER),
            "partial-barrier": self._passes & (part.o.payload.kind == _KIND.PARTIAL_BARRIER),
            "passed-by-an-exit": self._passes & self._is_exit,
            "passed-by-an-arrive": self._passes & (item.kind == _KIND.ARRIVE),
            "counted": self._passes & (self._need_now == 2),
            "block-starts-with-arrivals-left": self._taken & (item.kind == _KIND.BLOCK_START)
            & (self._at != 0),
        }  # fmt: skip
        self.state(m, rules, events, self._helps(inner, rows))
        return m

    def _reference(self, m: Module) -> None:
        """Who is at the watched barrier, by what has been taken."""
        part, item = self._counter, self.i_item
        is_known, kept = Signal(name="is_known"), Signal(4, name="kept")
        self._number = number = Mux(is_known, kept, self.i_number)
        m.d.sync += [is_known.eq(1), kept.eq(number)]
        self._block, self._living, self._at, self._waiting, self._need = (
            Signal(2, name=name) for name in ("block", "living", "at", "waiting", "need")
        )
        here, none = Mux(item.warp[0], 2, 1), self._at == 0
        self._is_exit = item.kind == _KIND.EXIT
        self._is_arrival = (item.kind == _KIND.BARRIER) | (item.kind == _KIND.ARRIVE)
        self._is_own = self._is_arrival & (item.number == number)
        self._taken = self.i_valid & part.i.ready
        self._at_now = self._at | Mux(self._is_own, here, 0)
        waits = self._is_own & (item.kind == _KIND.BARRIER)
        self._waiting_now = self._waiting | Mux(waits, here, 0)
        self._need_now = Mux(self._is_own & none, item.warps, self._need)
        self._living_now = self._living & ~Mux(self._is_exit, here, 0)
        out = part.o.payload
        is_barrier = (out.kind == _KIND.BARRIER) | (out.kind == _KIND.PARTIAL_BARRIER)
        self._offers = part.o.valid & is_barrier & (out.number == number)
        self._passes = self._offers & part.o.ready
        with m.If(self._taken & self._is_own):
            m.d.sync += [
                self._at.eq(self._at_now), self._waiting.eq(self._waiting_now),
                self._need.eq(self._need_now),
            ]  # fmt: skip
        with m.If(self._passes):
            m.d.sync += [self._at.eq(0), self._waiting.eq(0)]
        with m.If(self._taken & self._is_exit):
            m.d.sync += self._living.eq(self._living_now)
        with m.If(self._taken & (item.kind == _KIND.BLOCK_START)):
            m.d.sync += [
                self._block.eq(item.warps), self._living.eq(item.warps), self._at.eq(0),
                self._waiting.eq(0),
            ]  # fmt: skip

    def _assume(self, m: Module) -> None:
        item = self.i_item
        self._before, self._stuck = Signal(_LAYOUT, name="before"), Signal(name="stuck")
        m.d.sync += [self._before.eq(item), self._stuck.eq(self.i_valid & ~self._counter.i.ready)]
        acts = self._is_arrival | self._is_exit
        first = Mux(item.warp[0], item.warps == 2, item.warps[0])
        m.d.comb += [
            Assume(each)
            for each in (
                ~self._stuck | (self.i_valid & (Value.cast(self._before) == Value.cast(item))),
                (item.slot == 0) & (item.kind <= _KIND.EXIT),
                (item.kind != _KIND.BLOCK_START) | (first & item.lanes),
                ~acts | (self._living.bit_select(item.warp, 1) & item.lanes),
            )
        ]

    def _is_enough(self, at: Value, need: Value, living: Value) -> Value:
        return Mux(need == 0, (living != 0) & ((living & ~at) == 0), at[0] + at[1] >= need)

    def _rules(self, m: Module) -> list[Value]:
        part, item, out = self._counter, self.i_item, self._counter.o.payload
        now = self._is_enough(self._at_now, self._need_now, self._living_now)
        all_wait = (Mux(self._need_now == 0, self._living_now, self._block)
                    & ~self._waiting_now) == 0  # fmt: skip
        self._gave = gave = Signal(name="gave")
        gives = part.o.valid & (out.kind == _KIND.ARRIVE)
        m.d.sync += gave.eq((gave | (gives & part.o.ready)) & ~self._taken)
        other = self.i_valid & ~self._is_arrival & ~self._is_exit
        return [
            ~self._offers | (self.i_valid & (self._is_own | self._is_exit) & now),
            ~(self._offers & self._is_exit) | (self._at != 0),
            ~(self._taken & self._is_own & ~self._passes) | ~now,
            ~(self._taken & self._is_exit) | (self._at == 0) | ~now,
            ~self._offers | ((out.kind == _KIND.BARRIER) == all_wait),
            ~(self._offers & (out.kind == _KIND.PARTIAL_BARRIER))
            | (out.warps == self._waiting_now >> self._first),
            ~other | (part.o.valid & (Value.cast(out) == Value.cast(item))
                      & (part.i.ready == part.o.ready)),
            ~gives | (self.i_valid & (item.kind == _KIND.ARRIVE) & ~gave),
            ~(self._taken & (item.kind == _KIND.ARRIVE)) | gave,
        ]  # fmt: skip

    @property
    def _first(self) -> Value:
        """Whether the block's first warp is warp 1."""
        return self._block == 2

    def _helps(self, inner: OpenComponent, rows: OpenMemory) -> list[Value]:
        state, new, todo, number = (inner[name] for name in ("fsm_state", "new", "todo", "number"))
        before, first = self._before, self._first
        layout = rows.shape
        new = layout(new)
        row = layout(Array(inner[f"rows.row_{place}"] for place in range(16))[self._number])
        read = layout(Value.cast(rows.read_ports[0].data))
        block = data.StructLayout({"first": 1, "last_lanes": 1, "warps": 2, "living": 2})(
            inner["warps.blocks.row_0"]
        )
        was_exit = before.kind == _KIND.EXIT
        was_arrival = (before.kind == _KIND.BARRIER) | (before.kind == _KIND.ARRIVE)
        ends = (state != _PASS) & was_exit
        living = self._living & ~Mux(ends, Mux(before.warp[0], 2, 1), 0)
        is_here, exits = number == self._number, ends & (state != _EXIT)

        def equal(one, need, at, waiting):
            return (
                (one.count == need) & (one.all == at >> first) & (one.waiting == waiting >> first)
            )

        kept = (self._need, self._at, self._waiting)
        at_now = self._at | Mux(before.warp[0], 2, 1)
        was_own = was_arrival & (before.number == self._number)
        counted = (
            Mux(self._at == 0, before.warps, self._need), at_now,
            self._waiting | Mux(before.kind == _KIND.BARRIER, Mux(before.warp[0], 2, 1), 0),
        )  # fmt: skip
        is_watched, has_some = todo.bit_select(self._number, 1), self._at != 0
        return [
            state <= _END, (state == _PASS) | self._stuck,
            (state != _ARRIVE) | was_arrival, (state != _EXIT) & (state != _END) | was_exit,
            (state != _COUNT) | was_arrival | was_exit,
            (self._block == 0) | (
                (block.first == first) & block.last_lanes & (block.warps == self._block >> first)
                & (block.living == living >> first)
            ),
            (living & ~inner["warps.is_whole"]) == 0, (self._living & ~self._block) == 0,
            (self._at & ~self._block) == 0, (self._waiting & ~self._at) == 0,
            inner["active_0"].bit_select(self._number, 1) == has_some,
            ~has_some | equal(row, *kept),
            ~((state == _ARRIVE) & was_own & has_some) | equal(read, *kept),
            ~((state == _COUNT) & was_own) | equal(new, *counted),
            ~((state == _END) & is_here) | (equal(read, *kept) & has_some),
            ~((state == _COUNT) & was_exit & is_here) | (equal(new, *kept) & has_some),
            ~ends | ~is_watched | has_some, ~exits | (todo != 0),
            ~ends | is_watched | ~(has_some & self._is_enough(self._at, self._need, living)),
            ~ends | (self._living.bit_select(before.warp, 1)),
            self._gave == ((state == _COUNT) & (before.kind == _KIND.ARRIVE)),
        ]  # fmt: skip


PROOF = Proof(
    rule="A barrier leaves with the arrival or the exit by which enough warps have arrived, never "
    "earlier nor later. It is one of the block if all that must have waited, otherwise it names "
    "those that have. An ARRIVE leaves once; all else passes at once, unchanged.",
    sizes="2 warps in lockstep, one block slot, 16 barriers of which any is watched",
    harness=CounterHarness,
    depth=2,
    events=(
        "barrier", "partial-barrier", "passed-by-an-exit", "passed-by-an-arrive", "counted",
        "block-starts-with-arrivals-left",
    ),
    bugs={
        "one-arrival-too-few": Patch(_FILE, ">= row.count", "> row.count"),
        "ended-warps-are-waited-for": Patch(
            _FILE, "changed.data.living.eq(found.data.living & ~self.o_here)",
            "changed.data.living.eq(found.data.living)",
        ),
        "waiting-is-arrived": Patch(_FILE, "Mux(waits, here, 0)", "here"),
        "barrier-of-the-block-before": Patch(
            _FILE, "m.d.sync += active[item.slot].eq(0)", "pass"
        ),
        "arrive-is-lost": Patch(
            _FILE, "self.o.valid.eq(item.kind == kinds.ARRIVE)", "self.o.valid.eq(0)"
        ),
        "barrier-of-another-number": Patch(
            _FILE, "read.addr.eq(Cat(number, item.slot))", "read.addr.eq(item.slot)"
        ),
    },
    cycles=13,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
