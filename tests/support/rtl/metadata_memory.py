"""Metadata memory behind a bank's AXI4 port, cycle by cycle, for Amaranth's simulator.

Knobs: latency, readiness of each channel, order of the read answers, errors.  The memory checks
what a manager owes it, and what a bank owes itself: no read while a write to the same entry is
unanswered, no write while a read of it is, and at most one read in flight for each id.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from racetrap.golden_model.axi import AxiBurst
from racetrap.rtl.common.axi import AxiResponse

_OUTPUTS = {
    "ar": ("arid", "araddr", "arlen", "arsize", "arburst"),
    "aw": ("awid", "awaddr", "awlen", "awsize", "awburst"),
    "w": ("wdata", "wstrb", "wlast"),
}

_GOOD_RESPONSES = (AxiResponse.OKAY, AxiResponse.EXOKAY)
_BAD_RESPONSES = (AxiResponse.SLVERR, AxiResponse.DECERR)


@dataclass(frozen=True)
class MemoryKnobs:
    """``read_latency`` and ``write_latency`` are ranges of cycles; 0 answers in the next cycle.

    ``ready`` is the probability that a channel is ready in a cycle, ``reorder`` that an answer
    overtakes older ones, ``read_error`` and ``write_error`` that an answer is an error.
    """

    read_latency: tuple[int, int] = (0, 0)
    write_latency: tuple[int, int] = (0, 0)
    ready: float = 1.0
    reorder: float = 0.0
    read_error: float = 0.0
    write_error: float = 0.0


@dataclass
class Transfer:
    """A read or write: its address, its id, whether it is answered with an error."""

    address: int
    id: int
    is_error: bool
    data: int = 0
    due: int = field(default=0, repr=False)


class MetadataMemory:
    """Call ``tick`` once a cycle with what ``signals`` were in it, then ``drive`` the answers.

    ``words`` maps byte addresses to values: an entry never written is ``junk`` of its address, and
    ``unwritten_reads`` has the addresses at which such an entry was read.
    """

    def __init__(self, port, knobs: MemoryKnobs, seed: str):
        self.port = port
        self.knobs = knobs
        self.entry_bytes = len(port.wstrb)
        self.words: dict[int, int] = {}
        self.unwritten_reads: list[int] = []
        self.reads: list[Transfer] = []
        self.writes: list[Transfer] = []
        self._rng = random.Random(seed)
        self._cycle = 0
        self._waiting: dict[str, list[int] | None] = dict.fromkeys(_OUTPUTS)
        self._ready = dict.fromkeys(_OUTPUTS, 0)
        self._unanswered_reads: list[Transfer] = []
        self._addresses: deque[Transfer] = deque()
        self._data: deque[int] = deque()
        self._unanswered_writes: deque[Transfer] = deque()
        self._read_answer: Transfer | None = None
        self._write_answer: Transfer | None = None
        self._names = [name for names in _OUTPUTS.values() for name in names]
        self.signals = [
            *(getattr(port, f"{prefix}valid") for prefix in _OUTPUTS),
            port.rready,
            port.bready,
            *(getattr(port, name) for name in self._names),
        ]

    @property
    def is_quiet(self) -> bool:
        """Whether everything that was asked of the memory is answered."""
        return not (self._unanswered_reads or self._unanswered_writes)

    def junk(self, address: int) -> int:
        """What stands in the memory before it was written."""
        return random.Random(f"junk {address}").getrandbits(8 * self.entry_bytes)

    def tick(self, values) -> None:
        """Take in the values that ``signals`` had at a clock edge."""
        arvalid, awvalid, wvalid, rready, bready, *payload = values
        fields = dict(zip(self._names, payload, strict=True))
        self._cycle += 1
        if self._read_answer and rready:
            self._unanswered_reads.remove(self._read_answer)
            self._read_answer = None
        if self._write_answer and bready:
            self._unanswered_writes.popleft()
            self._write_answer = None
        for prefix, valid in (("ar", arvalid), ("aw", awvalid), ("w", wvalid)):
            if self._handshake(prefix, valid, fields):
                getattr(self, f"_take_{prefix}")(fields)
        self._write()

    def drive(self, ctx) -> None:
        """Set the memory's outputs for the next cycle."""
        port, rng = self.port, self._rng
        for prefix in _OUTPUTS:
            self._ready[prefix] = int(self.knobs.ready >= 1 or rng.random() < self.knobs.ready)
            ctx.set(getattr(port, f"{prefix}ready"), self._ready[prefix])
        self._choose_read_answer()
        ctx.set(port.rvalid, self._read_answer is not None)
        if self._read_answer:
            answer = self._read_answer
            ctx.set(port.rid, answer.id)
            # What comes with an error must not be used.
            ctx.set(
                port.rdata,
                rng.getrandbits(8 * self.entry_bytes) if answer.is_error else answer.data,
            )
            ctx.set(port.rresp, self._response(answer))
            ctx.set(port.rlast, 1)
        oldest = self._unanswered_writes[0] if self._unanswered_writes else None
        if not self._write_answer and oldest and 0 < oldest.due <= self._cycle:
            self._write_answer = oldest
        ctx.set(port.bvalid, self._write_answer is not None)
        if self._write_answer:
            ctx.set(port.bid, self._write_answer.id)
            ctx.set(port.bresp, self._response(self._write_answer))

    def _response(self, answer: Transfer) -> AxiResponse:
        """One of the two codes that say the same; the same code for one address."""
        codes = _BAD_RESPONSES if answer.is_error else _GOOD_RESPONSES
        return codes[answer.address // self.entry_bytes % 2]

    def _handshake(self, prefix: str, valid: int, fields: dict[str, int]) -> bool:
        values = [fields[name] for name in _OUTPUTS[prefix]]
        before = self._waiting[prefix]
        assert before is None or valid, f"{prefix}valid fell before {prefix}ready"
        assert before in (None, values), f"{prefix} payload changed while it waited"
        taken = bool(valid and self._ready[prefix])
        self._waiting[prefix] = values if valid and not taken else None
        return taken

    def _take_ar(self, fields: dict[str, int]) -> None:
        address, id_ = fields["araddr"], fields["arid"]
        self._check_burst(address, fields["arlen"], fields["arsize"], fields["arburst"])
        assert id_ not in {read.id for read in self._unanswered_reads}, f"id {id_} is in flight"
        assert address not in {write.address for write in self._unanswered_writes}
        data = self.words.get(address)
        if data is None:
            data = self.junk(address)
            self.unwritten_reads.append(address)
        is_error = self._rng.random() < self.knobs.read_error
        read = Transfer(address, id_, is_error, data, self._due(self.knobs.read_latency))
        self.reads.append(read)
        self._unanswered_reads.append(read)

    def _take_aw(self, fields: dict[str, int]) -> None:
        address = fields["awaddr"]
        self._check_burst(address, fields["awlen"], fields["awsize"], fields["awburst"])
        assert fields["awid"] == 0
        assert address not in {read.address for read in self._unanswered_reads}
        write = Transfer(address, 0, self._rng.random() < self.knobs.write_error)
        self._addresses.append(write)
        self._unanswered_writes.append(write)

    def _take_w(self, fields: dict[str, int]) -> None:
        assert (fields["wstrb"], fields["wlast"]) == ((1 << self.entry_bytes) - 1, 1)
        self._data.append(fields["wdata"])

    def _write(self) -> None:
        """Store what has both address and data; an answer comes only after that."""
        while self._addresses and self._data:
            write = self._addresses.popleft()
            write.data = self.words[write.address] = self._data.popleft()
            write.due = self._due(self.knobs.write_latency)
            self.writes.append(write)

    def _choose_read_answer(self) -> None:
        if self._read_answer:
            return  # an answer stays put until it is taken
        due = [read for read in self._unanswered_reads if read.due <= self._cycle]
        if due:
            overtakes = self._rng.random() < self.knobs.reorder
            self._read_answer = self._rng.choice(due) if overtakes else due[0]

    def _due(self, latency: tuple[int, int]) -> int:
        return self._cycle + self._rng.randint(*latency)

    def _check_burst(self, address: int, length: int, size: int, burst: int) -> None:
        assert address % self.entry_bytes == 0
        assert (length, 1 << size, burst) == (0, self.entry_bytes, AxiBurst.INCR)
