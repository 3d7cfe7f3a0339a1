"""The adapter of a Vortex core in Amaranth's simulator, with a core that issues at random."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from amaranth.hdl import Value

from racetrap.golden_model.events import lanes_of
from racetrap.golden_model.gpu.issue import Instruction
from racetrap.golden_model.vortex.adapter import Adapter, Start
from racetrap.golden_model.vortex.issue_decoder import LANES, WARPS, Action, decode, order_key
from tests.support.gpu.random_issue import packed
from tests.support.rtl.streams import get_forever, monitor, put, random_idle, simulate
from tests.support.vortex.plain_decoder import bits
from tests.support.vortex.random_issue import RandomCore


class AdapterBench:
    """An adapter, what it was given and what it gave.

    Parameters
    ----------
    adapter : type
        The component.
    params : GpuParams
        Configuration.
    seed : object
        Of all that is random.
    """

    def __init__(self, adapter: Any, params: Any, seed: object):
        self.dut, self._params, self._seed = adapter(params), params, seed
        self._rng = random.Random(f"adapter bench {seed}")
        self._golden = Adapter()
        self.due: list[Instruction] = []
        self.got: list[tuple[int, int]] = []
        #: Of each load, store and fence: what was due before and with it, its warp, its key.
        self._keys: list[tuple[int, int, int, int]] = []
        self._seen: list[tuple[int, ...]] = []
        self._outcomes: list[tuple[int, int]] = []
        self._answers: list[int] = []

    def run(self, count: int) -> None:
        """Issue so many items, until nothing waits; then compare."""
        dut, seed = self.dut, self._seed
        core = RandomCore(seed)
        self._items = [core.item() for _ in range(count)]
        is_done = False

        async def issue(ctx):
            nonlocal is_done
            await self._issue_all(ctx)
            while not ctx.get(dut.o_idle) or len(self.got) < len(self.due):
                await ctx.tick()
            is_done = True
            await ctx.tick()

        async def watch(ctx):
            while True:
                _, _, *values = await ctx.tick().sample(
                    *(dut.o_passed[warp] for warp in range(WARPS))
                )
                self._seen.append(tuple(values))

        async def answer(ctx):
            answered = 0
            while not is_done or answered < len(self.got):
                if answered == len(self.got):
                    await ctx.tick()
                    continue
                assert answered < len(self.due), "more instructions leave than were issued"
                due = self.due[answered]
                answered += 1
                if due.is_cas:
                    is_free = self._rng.getrandbits(1)
                    success = due.lanes if is_free else 0
                    fields = {"warp": due.warp, "success": success}
                    self._answers.append(self._params.outcome_layout.pack(fields))
                    await put(ctx, dut.i_found, is_free << 2 | due.warp)

        simulate(
            dut, issue, answer,
            background=[
                get_forever(dut.o_instruction, [], idle=random_idle(f"{seed} get", 0.4, 9)),
                get_forever(dut.o_outcome, [], idle=random_idle(f"{seed} outcome")),
                monitor(dut.o_instruction, self.got), monitor(dut.o_outcome, self._outcomes),
                watch,
            ],
            cycles=40 * count,
        )  # fmt: skip
        self._compare()

    async def _issue_all(self, ctx: Any) -> None:
        dut, items, pause = self.dut, self._items, random_idle(f"{self._seed} issue", 0.3, 2)
        while items:
            for _ in range(pause()):
                await ctx.tick()
            kind, item = items.pop(0)
            if kind == "start":
                await self._start(ctx, [Start(*each) for each in item])
                continue
            while ctx.get(dut.o_full):
                await ctx.tick()
            self._issue(ctx, item)
            await ctx.tick()
            ctx.set(dut.i_issue.valid, 0)

    async def _start(self, ctx: Any, starts: list[Start]) -> None:
        """Warps of a block begin one after the other, with an instruction of another block."""
        for start in starts:
            ctx.set(self.dut.i_start.payload, start._asdict())
            ctx.set(self.dut.i_start.valid, 1)
            self.due += self._golden.start(start)
            kind, item = self._items[0] if self._items else ("", 0)
            if kind == "issue" and bits(item, 468, 467) != start.slot and not start.rank:
                self._issue(ctx, item)
                del self._items[0]
            await ctx.tick()
            ctx.set(self.dut.i_start.valid, 0)
            ctx.set(self.dut.i_issue.valid, 0)

    def _issue(self, ctx: Any, word: int) -> None:
        ctx.set(Value.cast(self.dut.i_issue.payload), word)
        ctx.set(self.dut.i_issue.valid, 1)
        issued = decode(word)
        if issued is None:
            return
        before = len(self.due)
        self.due += self._golden.step(issued)
        if issued.action in (Action.LOAD, Action.STORE, Action.FENCE):
            self._keys.append((before, len(self.due), issued.warp, order_key(issued.uuid)))

    def _compare(self) -> None:
        assert not self._golden.error
        words = [word for _, word in self.got]
        for number, (got, due) in enumerate(zip(words, self.due, strict=True)):
            assert self._shown(got) == self._shown(packed(self._params, due)), f"{number}: {due}"
        assert [word for _, word in self._outcomes] == self._answers
        for warp in range(WARPS):
            seen = [row[warp] for row in self._seen]
            changes = [0] + [new for old, new in pairwise(seen) if new != old]
            keys = [0] + [key for *_, owner, key in self._keys if owner == warp]
            assert changes == keys, f"warp {warp}"
        for before, after, warp, key in self._keys:
            if after > before:
                taken = self.got[after - 1][0]
                assert self._seen[taken][warp] != key, f"cycle {taken}, warp {warp}: too early"
                # Windows that are not monitored take a cycle each.
                later = self._seen[taken + 1 : taken + 1 + LANES]
                assert key in [row[warp] for row in later], f"cycle {taken}, warp {warp}: too late"

    def _shown(self, word: int) -> dict[str, Any]:
        """Fields of an instruction, with the addresses of its active lanes alone."""
        fields = self._params.instruction_layout.unpack(word)
        addresses, bits_each = fields.pop("addresses"), self._params.address_bits
        if fields["kind"] <= 2:
            fields["addresses"] = [
                addresses >> bits_each * lane & (1 << bits_each) - 1
                for lane in lanes_of(fields["lanes"])
            ]
        return fields
