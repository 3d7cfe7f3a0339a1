"""Proof: the link takes each record once, and its bytes are in the reply that it keeps."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Module, Mux, Signal

from racetrap.golden_model.link.frames import HEADER_BYTES, Kind
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.link.link_proof import APPEND, HELLO, PULL, LinkHarness

_FILE, _SIZE = "link/link.py", HELLO.output_bytes


class PullHarness(LinkHarness):
    """Senders keep a record until it is taken."""

    def _elaborate_rules(self, m: Module) -> None:
        link, inner, channel = self.link, self.inner, self.link._request.channel
        for number, record in enumerate(link.i_record):
            waits, waiting = Signal(name=f"waits_{number}"), Signal(16, name=f"waiting_{number}")
            m.d.sync += [waits.eq(record.valid & ~record.ready), waiting.eq(record.payload)]
            m.d.comb += Assume(~waits | (record.valid & (record.payload == waiting)))
        taken, expected = Signal(8), Signal(9)
        position = inner["position"]
        takes = [port.ready for port in link.i_record]
        m.d.sync += taken.eq(Mux(self.goes_on, 0, taken + (takes[0] | takes[1])))
        m.d.comb += expected.eq(HEADER_BYTES + _SIZE * taken)
        offered = Array(port.valid for port in link.i_record)[channel]
        payload = Array(port.payload for port in link.i_record)[channel]
        appends = self.is_in(APPEND) & (link._request.kind == Kind.PULL)
        is_done = self.replied & (self.kind == Kind.PULL)
        end, write = link._end, link._write
        rules = [
            ~(takes[0] & takes[1]),
            *(~take | port.valid for take, port in zip(takes, link.i_record, strict=True)),
            (taken == 0) | self.of_host(Kind.PULL),
            ~is_done | (end == expected),
            ~is_done | (end <= 252),
            # Each byte goes to its place in the reply, the last one as its record is taken.
            ~appends | (write.en & (write.addr[:8] == (expected + position)[:8]) & write.addr[8]),
            ~appends | (write.data == payload.word_select(position[:1], 8)),
            ~(appends & (position == _SIZE - 1)) | (takes[0] | takes[1]),
            *(~take | (channel == number) for number, take in enumerate(takes)),
        ]
        runs = self.is_in(PULL) | appends
        known = self.seen & link.o_link_up & (self.kind == Kind.PULL)
        helps = [
            *self.host_helps,
            ~runs | (self.of_host(Kind.PULL) & (channel < HELLO.outputs) & link.o_link_up),
            ~known | (end == expected + Mux(appends, position, 0)),
            ~appends | (offered & (end + _SIZE - position <= 252)),
            ~appends | (position < _SIZE), self.is_in(APPEND) | (position == 0),
            ~known | (end <= 252), taken <= 125, ~(self.seen & ~link.o_link_up) | (taken == 0),
        ]  # fmt: skip
        repeats = Signal()
        with m.If(self.is_in(1) & self.seen & known):
            m.d.sync += repeats.eq(1)
        events = {
            "two-records": is_done & (taken == 2),
            "none-there": is_done & (taken == 0) & ~link._is_refused,
            "repeated-with-a-record": is_done & repeats & (taken == 1),
            "from-the-second-channel": takes[1],
        }
        self.state(m, rules, events, helps)


PROOF = Proof(
    rule="However often a request comes and its reply is lost, the link takes a record only for a "
    "PULL of its channel, once, as the last of its bytes goes to its place in the reply. The reply "
    "that is kept has all records taken, and no byte more.",
    sizes="any line that keeps frames in order, a perfect CRC; 2 channels, records of 2 bytes",
    harness=PullHarness,
    depth=4,
    events=("two-records", "none-there", "repeated-with-a-record", "from-the-second-channel"),
    bugs={
        "repeat-done-again": Patch(_FILE, "| (steps == 1)", "| (steps <= 1)"),
        "taken-from-each-channel": Patch(
            _FILE, "record.ready.eq(self._is_pulling & (channel == number))",
            "record.ready.eq(self._is_pulling)",
        ),
        "waits-for-no-record": Patch(_FILE, "has_space & self._can_pull", "has_space"),
        "end-of-the-reply-before": Patch(
            _FILE, "self._end.eq(HEADER_BYTES),", "self._end.eq(self._end),"
        ),
    },
    cycles=37,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
