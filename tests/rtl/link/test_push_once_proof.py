"""Proof: the link puts each byte of a request into its queue once, and tells the room rightly."""

from __future__ import annotations

from amaranth.hdl import Array, Module, Mux, Signal

from racetrap.golden_model.link.frames import CRC_BYTES, HEADER_BYTES, Kind
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.link.link_proof import APPEND, HELLO, PUSH, LinkHarness

_FILE = "link/link.py"
_AROUND = HEADER_BYTES + CRC_BYTES


class PushHarness(LinkHarness):
    """Listeners take the records whenever they like."""

    def _elaborate_rules(self, m: Module) -> None:
        link, inner = self.link, self.inner
        pushed, room = Signal(9), Signal(16)
        freed = Signal(16)  # since the room was told
        queues = range(HELLO.inputs)
        rooms = [inner[f"queue_{k}.o_room"] for k in queues]
        m.d.comb += room.eq(Array(rooms)[link._request.channel])
        out = Array(port.valid & port.ready for port in link.o_record)[link._request.channel]
        taken = link._is_pushing & link._can_push
        payload, refused = self.length - _AROUND, link._is_refused
        m.d.sync += [
            pushed.eq(Mux(self.goes_on, 0, pushed + taken)),
            freed.eq(Mux(self.is_in(PUSH), 0, freed) + Mux(out, HELLO.input_bytes, 0)),
        ]
        is_done = self.replied & (self.kind == Kind.PUSH)
        at_watched = taken & (pushed + HEADER_BYTES == self.watch)
        tells = self.is_in(APPEND) & (link._request.kind == Kind.PUSH)
        rules = [
            ~is_done | (pushed == Mux(refused, 0, payload)),
            (pushed == 0) | self.of_host(Kind.PUSH),
            ~taken | ((room != 0) & (link._request.channel < HELLO.inputs)),
            ~at_watched | (link._read.data == self.memory.kept),
            ~tells | (link._request.data[:16] + freed == room),
        ]
        runs = self.is_in(PUSH)
        known = self.seen & link.o_link_up & (self.kind == Kind.PUSH) & ~runs
        helps = [
            *self.host_helps,
            ~runs | (self.of_host(Kind.PUSH) & (pushed + link._left == payload)),
            ~runs | (link._left <= room),
            ~runs | (link._request.channel < HELLO.inputs),
            ~runs | (link._index == HEADER_BYTES + pushed),
            ~known | (pushed == Mux(refused, 0, payload)),
            ~(runs & (link._index == self.watch)) | (link._read.data == self.memory.kept),
            ~runs | ~refused, ~self.seen | (self.length >= _AROUND),
            ~(self.seen & ~link.o_link_up) | (pushed == 0), self.length <= 256,
            ~tells | (link._request.channel < HELLO.inputs),
            *self._rooms(rooms),
        ]  # fmt: skip
        events = {
            "two-records": is_done & ~refused & (payload == 2 * HELLO.input_bytes),
            "part-of-a-record": is_done & ~refused & (payload == 1),
            "refused": is_done & refused,
            "room-grows-while-told": tells & (freed != 0),
        }
        self.state(m, rules, events, helps)

    def _rooms(self, rooms) -> list:
        """The room is what the registers and the memory of a queue leave free."""
        helps = []
        for number, room in enumerate(rooms):
            level, given = (
                self.inner[f"queue_{number}.queue.queue.{name}"]
                for name in ("inner_level", "r_rdy")
            )
            count = self.inner[f"queue_{number}.count"]
            helps += [
                level <= HELLO.room - 1, count <= HELLO.input_bytes,
                room == (HELLO.room - level - given - count)[:16], room <= HELLO.room,
            ]  # fmt: skip
        return helps


PROOF = Proof(
    rule="However often a request comes and its reply is lost, the link puts each byte of a PUSH "
    "that it has not refused into the channel's queue once and in order, and no other byte. There "
    "is room for each. The room that the reply gives is what was free after the last byte.",
    sizes="any line that keeps frames in order, a perfect CRC; 2 channels of 2 records of 2 bytes",
    harness=PushHarness,
    depth=4,
    events=("two-records", "part-of-a-record", "refused", "room-grows-while-told"),
    bugs={
        "repeat-done-again": Patch(_FILE, "| (steps == 1)", "| (steps <= 1)"),
        "room-not-looked-at": Patch(
            _FILE, "(request.channel < hello.inputs) & (length <= self._room)",
            "(request.channel < hello.inputs)",
        ),
        "room-told-before-the-last-byte": Patch(
            _FILE, "m.d.sync += self._request.data.eq(self._room)",
            "m.d.sync += self._request.data.eq(self._room + 1)",
        ),
        "byte-of-the-position-before": Patch(
            _FILE, "self._read.addr.eq(Cat(self._next_index[:8], self._is_sending))",
            "self._read.addr.eq(Cat(self._index[:8], self._is_sending))",
        ),
    },
    cycles=40,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
