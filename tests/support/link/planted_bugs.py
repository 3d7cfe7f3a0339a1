"""Bugs planted in the host link: plausible slips that its benches must find."""

from __future__ import annotations

from racetrap.sim.cosim.verilator.build_cache import Patch


def _link(before: str, after: str) -> Patch:
    return Patch("link/link.py", before, after)


#: In the RTL.
PLANTED_BUGS = {
    "repeated-request-is-executed": _link("(steps == 1)", "(steps <= 1)"),
    "lost-request-is-not-missed": _link("(steps == 1)", "(steps != 0)"),
    "stray-request-is-answered": _link("self.o_link_up & (steps <= 1)", "self.o_link_up"),
    "executed-before-hello": _link("self.o_link_up & (steps <= 1)", "(steps <= 1)"),
    "reply-taken-for-a-request": _link("request.is_reply | ~is_known", "~is_known"),
    "crc-not-checked": _link("is_good = crc.match_detected & ", "is_good = "),
    "crc-not-begun-anew": _link("m.d.comb += crc.start.eq(1)\n", "pass\n"),
    "too-short": _link("(index >= _AROUND_BYTES) & (index", "(index"),
    "too-long": _link(" & (index <= MAX_BODY_BYTES)\n", "\n"),
    "lonely-escape": _link("is_good & ~self._is_escaped", "is_good"),
    "escape-byte-not-escaped": _link("((byte == FLAG) | (byte == ESCAPE))", "(byte == FLAG)"),
    "pushed-beyond-the-room": _link(" & (length <= self._room)", ""),
    "pushed-to-all-channels": _link("self._is_pushing & (channel == number)", "self._is_pushing"),
    "pulled-beyond-the-frame": _link("has_space & self._can_pull", "self._can_pull"),
    "pulled-from-all-channels": _link("self._is_pulling & (channel == number)", "self._is_pulling"),
    "record-given-twice": _link("_is_pulling.eq(request.kind == Kind.PULL)", "_is_pulling.eq(0)"),
    "no-such-channel": _link("request.channel < hello.outputs", "1"),
    "address-cut-off": _link(" & (request.address < 1 << REGISTER_ADDRESS_BITS)", ""),
    "error-not-told": _link("self._is_refused.eq(has_failed)", "self._is_refused.eq(0)"),
    "kept-reply-is-lost": _link(
        "with m.If(request.is_reply | ~is_known):\n",
        "with m.If(request.is_reply | ~is_known):\n"
        "                m.d.sync += self._last.eq(request.sequence)\n",
    ),
    "order-of-bytes": Patch(
        "link/input_queue.py", "Cat(self.o.payload, queue.o.payload)[8:]",
        "Cat(queue.o.payload, self.o.payload)[: 8 * self._size]",
    ),
    "room-not-given-back": Patch("link/input_queue.py", "Mux(is_out, self._size, 0)", "is_out"),
}  # fmt: skip

#: In the golden models.
GOLDEN_BUGS = {
    "repeated-request-is-executed": Patch("link/device.py", "or steps == 1:", "or steps <= 1:"),
    "resent-request-is-executed-after-a-reset": Patch(
        "link/device.py",
        "% SEQUENCES\n        is_known = kind == Kind.HELLO or (self._kept and steps <= 1)",
        "% SEQUENCES if self._kept else 1\n        is_known = kind == Kind.HELLO or steps <= 1",
    ),
    "reply-is-not-kept": Patch(
        "link/device.py", "return self._kept\n", 'return self._kept if steps else b""\n'
    ),
    "sent-again-as-another-request": Patch(
        "link/host.py", "self.resends += attempt > 0",
        "self.resends += attempt > 0\n"
        "            self._sequence = (self._sequence + (attempt > 0)) % SEQUENCES\n"
        "            data = encode(Frame(self._sequence, kind * CHANNELS + channel, payload))",
    ),
    "any-reply-is-taken": Patch("link/host.py", "reply.sequence == self._sequence and ", ""),
    "crc-not-checked": Patch("link/frames.py", " or not body.endswith(crc)", ""),
}  # fmt: skip
