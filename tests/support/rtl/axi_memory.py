"""Memory behind an AXI4 write port, or a whole AXI4 port, in Amaranth's simulator.

It checks what the specification demands of the manager: a payload stays put while it waits,
bursts do not cross 4 KiB, WLAST comes with the last beat.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tests.support.rtl.streams import Idle, never_idle

_WRITE = ("awid", "awaddr", "awlen", "awsize", "awburst")
_DATA = ("wdata", "wstrb", "wlast")
_READ = ("arid", "araddr", "arlen", "arsize", "arburst")


class AxiMemory:
    """Memory of 64-bit words; every attribute may be changed while it runs.

    ``words`` maps word numbers to values; ``error(address)`` says whether an access is
    answered with SLVERR; ``idle()`` gives the cycles before each transfer on each channel.
    """

    def __init__(self, port, *, idle: Idle = never_idle, error: Callable = lambda address: False):
        self.port = port
        self.idle = idle
        self.error = error
        self.words: dict[int, int] = {}
        self.bursts: list[tuple[int, int]] = []
        self._addresses: deque = deque()
        self._data: deque = deque()
        self._read_addresses: deque = deque()

    def testbenches(self, *, read: bool = False) -> list:
        """Processes for ``simulate(background=...)``."""
        benches = [self._channel("aw", _WRITE, self._addresses), self._write_responses]
        benches.append(self._channel("w", _DATA, self._data))
        if read:
            benches += [self._channel("ar", _READ, self._read_addresses), self._read_data]
        return benches

    def _channel(self, prefix: str, names: tuple[str, ...], into: deque):
        port = self.port
        valid, ready = getattr(port, f"{prefix}valid"), getattr(port, f"{prefix}ready")
        payload = [getattr(port, name) for name in names]

        async def bench(ctx):
            waiting = None
            wait = self.idle()
            while True:
                ctx.set(ready, wait <= 0)
                _, _, offered, taken, *values = await ctx.tick().sample(valid, ready, *payload)
                assert waiting in (None, values), f"{prefix} payload changed while it waited"
                assert offered or waiting is None, f"{prefix}valid fell before ready"
                waiting = None
                wait -= 1
                if offered and taken:
                    into.append(dict(zip(names, values, strict=True)))
                    wait = self.idle()
                elif offered:
                    waiting = values

        return bench

    async def _write_responses(self, ctx) -> None:
        port = self.port
        while True:
            await ctx.tick()
            if not self._addresses or len(self._data) <= self._addresses[0]["awlen"]:
                continue
            burst = self._addresses.popleft()
            address, beats = burst["awaddr"], burst["awlen"] + 1
            assert burst["awsize"] == 3
            assert burst["awburst"] == 1
            assert address // 4096 == (address + 8 * beats - 1) // 4096, "burst crosses 4 KiB"
            error = self.error(address)
            for beat in range(beats):
                data = self._data.popleft()
                assert data["wlast"] == (beat == beats - 1)
                assert data["wstrb"] == 0xFF
                if not error:
                    self.words[address // 8 + beat] = data["wdata"]
            self.bursts.append((address, beats))
            for _ in range(self.idle()):
                await ctx.tick()
            ctx.set(port.bid, burst["awid"])
            ctx.set(port.bresp, 2 if error else 0)
            ctx.set(port.bvalid, 1)
            taken = False
            while not taken:
                *_, taken = await ctx.tick().sample(port.bready)
            ctx.set(port.bvalid, 0)

    async def _read_data(self, ctx) -> None:
        port = self.port
        while True:
            await ctx.tick()
            if not self._read_addresses:
                continue
            request = self._read_addresses.popleft()
            assert request["arlen"] == 0
            for _ in range(self.idle()):
                await ctx.tick()
            ctx.set(port.rid, request["arid"])
            ctx.set(port.rdata, self.words.get(request["araddr"] // 8, 0))
            ctx.set(port.rresp, 2 if self.error(request["araddr"]) else 0)
            ctx.set(port.rlast, 1)
            ctx.set(port.rvalid, 1)
            taken = False
            while not taken:
                *_, taken = await ctx.tick().sample(port.rready)
            ctx.set(port.rvalid, 0)
