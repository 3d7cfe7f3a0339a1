"""A front end in Amaranth's simulator, with a load/store unit that answers each CAS late."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

from tests.support.gpu.issue_check import IssueCheck
from tests.support.gpu.random_issue import RandomIssue, packed
from tests.support.rtl.streams import (
    get_forever,
    monitor,
    never_idle,
    put,
    random_idle,
    simulate,
)


class IssueBench:
    """A front end, what it was given and what it gave.

    Parameters
    ----------
    front_end : type
        The component.
    transactions : callable
        The detector's golden coalescer.
    params : GpuParams
        Configuration.
    seed : object
        Of idle cycles and of the order of outcomes; None: no idle cycles.
    """

    def __init__(self, front_end: Any, transactions: Any, params: Any, seed: object = None):
        self.dut, self._transactions, self.params = front_end(params), transactions, params
        self._rng = random.Random(f"bench {seed}")
        self._idle = (lambda n: random_idle(f"{seed} {n}")) if seed else lambda n: never_idle
        self.taken: list[tuple[int, int]] = []
        self.got: list[tuple[int, int]] = []
        self.answered: list[int] = []
        self.answers: list[tuple[int, int]] = []
        self.held: list[int] = []

    def run(self, instructions: list[Any]) -> None:
        """Issue all, answer all, until the front end is idle; then compare."""
        dut, params = self.dut, self.params
        words = [packed(params, each) for each in instructions]
        pending: list[int] = []
        is_issued = False

        async def issue(ctx):
            nonlocal is_issued
            idle = self._idle("issue")
            for number, word in enumerate(words):
                for _ in range(idle()):
                    await ctx.tick()
                await put(ctx, dut.i_instruction, word)
                if instructions[number].is_cas:
                    pending.append(number)
            is_issued = True
            while pending or not ctx.get(dut.o_idle):
                await ctx.tick()
            await ctx.tick()

        async def answer(ctx):
            idle = self._idle("answer")
            while not is_issued or pending:
                await ctx.tick()
                for _ in range(3 * idle()):
                    await ctx.tick()
                if pending:
                    number = self._rng.choice(pending)
                    self.answered.append(number)
                    each = instructions[number]
                    fields = {"warp": each.warp, "success": each.success}
                    await put(ctx, dut.i_outcome, params.outcome_layout.pack(fields))
                    pending.remove(number)

        async def watch(ctx):
            while True:
                *_, held = await ctx.tick().sample(dut.o_held)
                self.held.append(held)

        simulate(
            dut, issue, answer,
            background=[
                get_forever(dut.o_transaction, [], idle=self._idle("get")),
                monitor(dut.o_transaction, self.got), monitor(dut.i_instruction, self.taken),
                monitor(dut.i_outcome, self.answers), watch,
            ],
            cycles=60 * len(words) * (1 + params.lanes // 4),
        )  # fmt: skip
        check = IssueCheck(params, self._transactions, instructions)
        assert check.compare([word for _, word in self.got], self.answered)
        self._check_held(check)

    def _check_held(self, check: IssueCheck) -> None:
        """A warp is held from when something of it is taken until that has left, and not longer
        than the two cycles that what gives no transaction may take."""
        outcomes = dict(zip(self.answered, (cycle for cycle, _ in self.answers), strict=True))
        must = [0] * len(self.held)
        for number, place in check.ends.items():
            issued, left = check.issued[number], self.got[place][0]
            taken = outcomes[number] if issued.is_cas else self.taken[number][0]
            for cycle in range(taken + 1, left + 1):
                must[cycle] |= 1 << issued.warp
        for cycle, (held, least) in enumerate(zip(self.held, must, strict=True)):
            assert held & least == least, f"cycle {cycle}: {held:#x} held, {least:#x} must be"
        assert not self.held[-1]
        more = sum(held != least for held, least in zip(self.held, must, strict=True))
        assert more <= 4 * len(self.taken), f"{more} cycles in which a warp is held in vain"


def random_instructions(params: Any, seed: object, count: int) -> list[Any]:
    """The first instructions of a random stream."""
    return list(islice(RandomIssue(params, seed), count))
