"""Proof: the link does each access to a register once, however often its request comes."""

from __future__ import annotations

from amaranth.hdl import Assume, Module, Mux, Signal

from racetrap.golden_model.link.frames import (
    ADDRESS_BYTES,
    CRC_BYTES,
    DATA_BYTES,
    HEADER_BYTES,
    Kind,
)
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.axi import stays
from tests.support.formal.proof import Proof, proof_tests
from tests.support.link.link_proof import ACCESS, RECEIVE, LinkHarness

_FILE = "link/link.py"
_READ = HEADER_BYTES + CRC_BYTES + ADDRESS_BYTES


class AccessHarness(LinkHarness):
    """Registers that answer each access that has come whole, with anything, at any time."""

    def _elaborate_rules(self, m: Module) -> None:
        axi, link = self.link.m_axil, self.link
        # Handshakes since the host began its request, and whether an answer is due.
        counts = {name: Signal(2, name=f"{name}_count") for name in ("aw", "w", "ar", "b", "r")}
        happens = {
            name: getattr(axi, f"{name}valid") & getattr(axi, f"{name}ready") for name in counts
        }
        for name, count in counts.items():
            m.d.sync += count.eq(Mux(self.goes_on, 0, count + (happens[name] & (count != 3))))
        owed = (counts["aw"] == 1) & (counts["w"] == 1) & (counts["b"] == 0)
        owed_read = (counts["ar"] == 1) & (counts["r"] == 0)
        m.d.comb += [Assume(~self.i_bvalid | owed), Assume(~self.i_rvalid | owed_read)]
        is_done = self.replied & (self.kind == Kind.ACCESS) & ~link._is_refused
        is_read = self.length == _READ
        writes = [counts[name] for name in ("aw", "w", "b")]
        reads = [counts[name] for name in ("ar", "r")]
        rules = [
            *(count <= 1 for count in counts.values()),
            *(~is_done | (count == ~is_read) for count in writes),
            *(~is_done | (count == is_read) for count in reads),
            # Nothing but an access touches a register.
            *((count == 0) | self.of_host(Kind.ACCESS) for count in counts.values()),
            stays(m, axi, "aw", "addr"), stays(m, axi, "w", "data", "strb"),
            stays(m, axi, "ar", "addr"),
        ]  # fmt: skip
        runs = self.is_in(ACCESS)
        is_write = self.length == _READ + DATA_BYTES
        none = [count == 0 for count in counts.values()]
        waits = {name: getattr(axi, f"{name}valid") for name in ("aw", "w", "ar")}
        idle = self.is_in(RECEIVE) | (self.state_of_link == 1)
        helps = [
            *self.host_helps,
            *(self.seen & link.o_link_up | one for one in none),
            *(~waits[name] | (runs & (counts[name] == 0)) for name in waits),
            ~runs | (self.of_host(Kind.ACCESS) & (is_read | is_write)),
            *(~runs | (waits[name] + counts[name] == is_write) for name in ("aw", "w")),
            ~runs | (waits["ar"] + counts["ar"] == is_read),
            *(~runs | (counts[name] == 0) for name in ("b", "r")),
            ~(self.seen & ~runs & ~link._is_refused & link.o_link_up
              & (self.kind == Kind.ACCESS)) | is_read | is_write,
            *(~(self.seen & ~runs & ~link._is_refused & link.o_link_up
                & (self.kind == Kind.ACCESS)) | (count == is_write) for count in writes),
            *(~(self.seen & ~runs & ~link._is_refused & link.o_link_up
                & (self.kind == Kind.ACCESS)) | (count == is_read) for count in reads),
        ]  # fmt: skip
        repeats, again = Signal(), idle & self.seen & link.o_link_up
        with m.If(again & (self.state_of_link == 1)):
            m.d.sync += repeats.eq(1)
        events = {
            "write": is_done & ~is_read,
            "read": is_done & is_read,
            "repeated": repeats & is_done,
            "data-first": (counts["w"] == 1) & (counts["aw"] == 0),
            "error": self.replied & (counts["b"] == 1) & link._is_refused,
        }
        self.state(m, rules, events, helps)


PROOF = Proof(
    rule="However often a request comes and its reply is lost, the link makes one transfer on each "
    "AXI4-Lite channel for an access that it has not refused, and none for anything else. A "
    "waiting transfer is stable.",
    sizes="any line that keeps frames in order, a perfect CRC; 2 channels each way",
    harness=AccessHarness,
    depth=4,
    events=("write", "read", "repeated", "data-first", "error"),
    bugs={
        "repeat-done-again": Patch(_FILE, "| (steps == 1)", "| (steps <= 1)"),
        "write-of-a-read": Patch(_FILE, "axi.awvalid.eq(is_write)", "axi.awvalid.eq(is_access)"),
        "address-offered-for-a-cycle": Patch(
            _FILE, 'with m.If(getattr(axi, f"{channel}ready")):', "if True:"
        ),
        "push-writes": Patch(_FILE, "axi.wvalid.eq(is_write)",
            "axi.wvalid.eq(length == frames.ADDRESS_BYTES + frames.DATA_BYTES)"),
    },
    cycles=46,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
