"""Transactions that must leave a front end: the golden one's, in an order that the rules allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from racetrap.golden_model.gpu.front_end import FrontEnd
from racetrap.golden_model.gpu.issue import OF_BLOCK, Instruction
from racetrap.golden_model.gpu.params import GpuParams


class IssueCheck:
    """Compares what has left with the golden front end, one transaction after the other.

    Instructions leave in the order of issue, but for each CAS, which leaves in the order of the
    outcomes: behind all that its warp has issued before, and before all that its warp, or the block
    scheduler for its block, issues behind.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    transactions : callable
        The detector's golden coalescer.
    instructions : sequence of Instruction
        All that is issued, with outcomes.
    """

    def __init__(self, params: GpuParams, transactions: Any, instructions: Sequence[Instruction]):
        self._layout = params.transaction_layout
        self.issued = instructions
        golden = FrontEnd(params, transactions)
        self.expected: list[list[int]] = []
        #: Of each instruction that has left, its last transaction.
        self.ends: dict[int, int] = {}
        for each in instructions:
            given = golden.step(each)
            if each.is_cas:
                given = golden.answer(each.warp, each.success)
            self.expected.append([self._layout.pack_fields(one) for one in given])

    def compare(self, got: Sequence[int], answered: Sequence[int], *, is_whole: bool = True) -> int:
        """Check transactions that have left; the number of those.

        Parameters
        ----------
        got : sequence of int
            Transactions.
        answered : sequence of int
            Numbers of the CAS instructions, in the order of their outcomes.
        is_whole : bool
            Whether all that was issued must have left.
        """
        sources = {
            "plain": iter([n for n, each in enumerate(self.issued) if not each.is_cas]),
            "outcome": iter(answered),
        }
        waiting = {name: self._next(numbers) for name, numbers in sources.items()}
        self._last: dict[int, int] = {}
        self._cas = [n for n, each in enumerate(self.issued) if each.is_cas and self.expected[n]]
        self.ends.clear()
        place = 0
        while place < len(got):
            fits = [
                (name, number, len(self.expected[number]))
                for name, number in waiting.items()
                if number is not None and self._fits(number, got, place)
            ]
            if not fits:
                raise AssertionError(self._difference(place, got[place], waiting))
            name, number, size = fits[0]
            self._check_order(number)
            place += size
            self.ends[number] = place - 1
            waiting[name] = self._next(sources[name])
        if is_whole:
            assert waiting == {"plain": None, "outcome": None}, f"{waiting} have not left"
            assert place == len(got), "the last instruction leaves in part"
        return len(got)

    def _next(self, numbers: Any) -> int | None:
        """The next instruction of which anything leaves."""
        return next((number for number in numbers if self.expected[number]), None)

    def _fits(self, number: int, got: Sequence[int], place: int) -> bool:
        """Whether what leaves is of an instruction, as far as it has left."""
        expected = self.expected[number]
        rest = list(got[place : place + len(expected)])
        return rest == expected[: len(rest)]

    def _check_order(self, number: int) -> None:
        """An instruction leaves behind those of its warp, and of its block if it concerns that."""
        issued = self.issued[number]
        if issued.kind in OF_BLOCK:
            late = [n for n in self._cas if n < number and self.issued[n].slot == issued.slot]
            assert not late, f"{number}, of a block, leaves before {late}"
            return
        last = self._last.get(issued.warp, -1)
        assert last < number, f"{number} leaves behind {last}, which its warp issued later"
        self._last[issued.warp] = number
        if issued.is_cas:
            self._cas.remove(number)

    def _difference(self, place: int, word: int, waiting: dict[str, int | None]) -> str:
        found = {name: value for name, value in self._layout.unpack(word).items() if value}
        lines = [f"transaction {place} is {found}"]
        for name, number in waiting.items():
            if number is not None:
                fields = [
                    {key: value for key, value in self._layout.unpack(each).items() if value}
                    for each in self.expected[number]
                ]
                lines.append(f"{name} {number}, {self.issued[number]}: {fields}")
        return "\n".join(lines)
