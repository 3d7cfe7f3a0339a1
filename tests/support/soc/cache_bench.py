"""Plays a cache beside a plain memory, and counts what it moves."""

from random import Random

from racetrap.rtl.soc.cache import Maintenance
from tests.support.rtl.streams import simulate

#: Bytes that are accessed from each of these addresses on, which differ in all upper bits, and from
#: any power of two on, so that one bit of the address tells them apart.
_MEMORY, _BASES = 0x100, (0, 0xA5A5_A400, 0x5A5A_5800)


class CacheRun:
    """Random accesses and maintenance; memory behind the cache, and what the CPU must see.

    Uncached accesses come only to memory whose lines were flushed before, and an invalidation after
    a clean: the program is race-free, so the cache must not show.
    """

    def __init__(self, dut, params, seed):
        self._dut, self._params, self._random = dut, params, Random(seed)
        self._memory, self._plain = {}, {}
        self.wrong = 0
        #: Words read from memory and written to it, so far.
        self.read = self.written = 0

    async def serve(self, ctx):
        """Memory with random latency."""
        port = self._dut.memory
        while True:
            *_, valid, address, wdata, wstrb = await ctx.tick().sample(
                port.valid, port.address, port.wdata, port.wstrb
            )
            if not valid or self._random.random() < 0.3:
                continue
            word = self._memory.get(address, 0)
            self.read, self.written = self.read + (not wstrb), self.written + (wstrb > 0)
            if wstrb:
                self._memory[address] = _merged(word, wdata, wstrb)
            ctx.set(port.rdata, word)
            ctx.set(port.ready, 1)
            await ctx.tick()
            ctx.set(port.ready, 0)

    async def play(self, ctx, count):
        for _ in range(count):
            base = self._random.choice((*_BASES, 1 << self._random.randrange(10, 32)))
            address = base + 4 * self._random.randrange(_MEMORY // 4)
            kind = self._random.randrange(20)
            if kind < 12:
                await self._access(ctx, address, 1)
            elif kind < 14:
                await self.maintain(ctx, Maintenance.FLUSH, address)
                await self._access(ctx, address, 0)
            elif kind < 16:
                await self.maintain(ctx, Maintenance.CLEAN, address)
                await self.maintain(ctx, self._random.choice(list(Maintenance)), address)
            elif kind == 16:
                # Whatever was written must be in memory.
                await self.maintain(ctx, Maintenance.CLEAN, address, 1)
                self.wrong += any(self._memory.get(at, 0) != word for at, word in
                                  self._plain.items())  # fmt: skip
            elif kind == 17:
                await self.maintain(ctx, Maintenance.FLUSH, address, 1)
                await self._access(ctx, address, 0)

    async def _access(self, ctx, address, is_cached):
        await self.access(ctx, address, self._random.choice((0, 0, 1, 8, 6, 15)), is_cached)

    async def access(self, ctx, address, wstrb, is_cached=1):
        port, wdata = self._dut.cpu, self._random.getrandbits(32)
        for signal, value in (
            (port.address, address), (port.wdata, wdata), (port.wstrb, wstrb),
            (self._dut.i_is_cached, is_cached), (port.valid, 1),
        ):  # fmt: skip
            ctx.set(signal, value)
        word = await _wait(ctx, port.ready, port.rdata)
        ctx.set(port.valid, 0)
        due = self._plain.get(address, 0)
        self.wrong += not wstrb and word != due
        self._plain[address] = _merged(due, wdata, wstrb)

    async def maintain(self, ctx, kind, address, is_all=0):
        port = self._dut.maintenance
        for signal, value in (
            (port.kind, kind), (port.address, address), (port.is_all, is_all), (port.valid, 1)
        ):  # fmt: skip
            ctx.set(signal, value)
        await _wait(ctx, port.ready, port.ready)
        ctx.set(port.valid, 0)


async def _wait(ctx, ready, value):
    for _ in range(2000):
        *_, is_ready, word = await ctx.tick().sample(ready, value)
        if is_ready:
            return word
    raise TimeoutError("The cache must answer within 2000 cycles")


def _merged(word, wdata, wstrb):
    mask = sum(0xFF << 8 * byte for byte in range(4) if wstrb >> byte & 1)
    return word & ~mask | wdata & mask


def wrong_words(dut, params, count, seed=1):
    """Words that differ from a plain memory's, in so many random accesses and maintenance."""
    run = CacheRun(dut, params, seed)
    simulate(dut, lambda ctx: run.play(ctx, count), background=[run.serve], cycles=10_000_000)
    return run.wrong


def moved_lines(dut, params, lines, wstrb):
    """Lines filled and written back by accesses to one set, each to its line of that number; a
    negative one is flushed instead."""
    run = CacheRun(dut, params, 1)

    async def play(ctx):
        for line in lines:
            address = abs(line) * params.sets * params.line_bytes
            if line < 0:
                await run.maintain(ctx, Maintenance.FLUSH, address)
            else:
                await run.access(ctx, address, wstrb)

    simulate(dut, play, background=[run.serve], cycles=100_000)
    assert run.wrong == 0
    words = params.line_bytes // 4
    return run.read / words, run.written / words


def fills_unlike_lru(dut, params, count=200, seed=1):
    """Whether reads of a cache of one or two ways fill other lines than the least recently used
    way's."""
    random, run, fills = Random(seed), CacheRun(dut, params, seed), 0
    sets = [[] for _ in range(params.sets)]

    async def play(ctx):
        nonlocal fills
        for _ in range(count):
            line, place = random.randrange(2 * params.ways + 1), random.randrange(params.sets)
            used = sets[place]
            if line in used:
                used.remove(line)
            else:
                fills += 1
                del used[: len(used) - params.ways + 1]
            used.append(line)
            word = 4 * random.randrange(params.line_bytes // 4)
            await run.access(ctx, (line * params.sets + place) * params.line_bytes + word, 0)
            # Each as it comes: a wrong way more and another less would look the same.
            if run.read != fills * params.line_bytes // 4:
                return

    simulate(dut, play, background=[run.serve], cycles=100_000)
    return run.read != fills * params.line_bytes // 4
