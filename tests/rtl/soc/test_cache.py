"""The cache against a plain memory on random accesses, what it keeps, and planted bugs."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.rtl.soc.cache import CacheParams, Maintenance
from tests.support.campaign import one_in
from tests.support.planted_bugs import modules_with
from tests.support.rtl.streams import simulate
from tests.support.soc.planted_bugs import (
    CACHE,
    CACHE_BUGS,
    CACHE_FILES,
    CHOICE_BUGS,
    WAY_BUGS,
)

_MEMORY = 0x400


class _Run:
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
            address, kind = 4 * self._random.randrange(_MEMORY // 4), self._random.randrange(20)
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


def _wrong(params, count, seed=1, bug=None):
    """Words that differ from a plain memory's."""
    dut = modules_with(CACHE_FILES, bug)[CACHE].Cache(params)
    run = _Run(dut, params, seed)
    simulate(dut, lambda ctx: run.play(ctx, count), background=[run.serve], cycles=10_000_000)
    return run.wrong


_SMALL = CacheParams(lines=4, line_bytes=16)
_TWO_WAYS = CacheParams(lines=8, line_bytes=16, ways=2)


@pytest.mark.parametrize(
    "params",
    [
        _SMALL, CacheParams(4, 16, write_through=True), _TWO_WAYS,
        CacheParams(8, 16, True, 2), CacheParams(8, 16, ways=4),
    ],
)  # fmt: skip
def test_cache_is_a_plain_memory(params):
    assert _wrong(params, 120) == 0


@pytest.mark.parametrize("name", one_in(len(CACHE_BUGS), CACHE_BUGS))
def test_planted_bug_is_found(name):
    assert _wrong(_SMALL, 120, bug=CACHE_BUGS[name]) > 0


@pytest.mark.parametrize("name", one_in(len(WAY_BUGS), WAY_BUGS))
def test_planted_bug_of_ways_is_found(name):
    assert _wrong(_TWO_WAYS, 120, bug=WAY_BUGS[name]) > 0


def _moved(params, lines, wstrb, bug=None):
    """Lines filled and written back by accesses to one set, each to its line of that number; a
    negative one is flushed instead."""
    dut = modules_with(CACHE_FILES, bug)[CACHE].Cache(params)
    run = _Run(dut, params, 1)

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


#: For each number of ways: lines, and how many fills these take.  With more than one way line 0
#: stays, since it is used again before each new one.
_KEPT = {
    1: ([0, 1, 0, 1, 0], 5),
    2: ([0, 1, 0, 2, 0, 3, 0, 4, 0], 5),
    4: ([0, 1, 2, 3, 0, 4, 0, 5, 0, 6, 0], 7),
}


@pytest.mark.parametrize("ways", _KEPT)
def test_line_in_use_stays(ways):
    lines, fills = _KEPT[ways]
    params = CacheParams(4 * ways, 16, ways=ways)
    assert _moved(params, lines, 0) == (fills, 0)
    # Written lines leave with one write-back each; as many as there are ways are still in.
    assert _moved(params, lines, 15) == (fills, fills - ways)
    # Writes go through word by word, and fill no line.
    assert _moved(replace(params, write_through=True), lines, 15) == (0, len(lines) / 4)


@pytest.mark.parametrize("ways", [2, 4])
def test_all_ways_of_a_set_are_used(ways):
    params = CacheParams(4 * ways, 16, ways=ways)
    assert _moved(params, [*range(ways)] * 3, 15) == (ways, 0)
    assert _moved(params, [*range(2 * ways)] * 2, 15) == (4 * ways, 3 * ways)


@pytest.mark.parametrize("name", CHOICE_BUGS)
def test_bad_choice_fills_more_lines(name):
    """It is no fault of the data, so that only a count shows it."""
    lines = [0, 1, 2, 3, -2, 4, 0, 1, 3, 5, 0, 6, 0, 7, 0]
    params = CacheParams(16, 16, ways=4)
    good, bad = (_moved(params, lines, 15, bug) for bug in (None, CHOICE_BUGS[name]))
    assert bad[0] > good[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lines": 3}, "Lines of the cache must be a power of two, not 3"),
        ({"line_bytes": 4}, "Line of the cache must be from 8 to 4096, not 4"),
        ({"ways": 8}, "Ways of the cache must be from 1 to 4, not 8"),
        ({"ways": 3}, "Ways of the cache must be 1, 2 or 4, not 3"),
        ({"lines": 4, "ways": 4}, "Lines of the cache must be at least 8, two of each way, not 4"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CacheParams(**settings)
