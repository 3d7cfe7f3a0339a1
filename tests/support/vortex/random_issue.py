"""Random packed words of instructions of a Vortex core, and warps that begin, in a legal order."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from tests.support.vortex.plain_decoder import bits, expected

#: Windows by how often an address is in them; the rest are not monitored.
_WINDOWS = {9: 8, 10: 4, 3: 2, 4: 2, 5: 2, 11: 2, 12: 2, 13: 2, 8: 2, 15: 1, 1: 1, 2: 1, 0: 1}
#: Unit and operation by how often they are drawn.
_OPERATIONS = {
    (1, 0): 1, (1, 1): 1, (1, 2): 8, (1, 4): 1, (1, 5): 1, (1, 8): 2, (1, 9): 2, (1, 10): 8,
    (1, 15): 2, (2, 4): 3, (2, 10): 2, (2, 0): 2, (0, 3): 1, (3, 2): 1, (2, 2): 1,
}  # fmt: skip
_LAYOUT = {
    "rs2": 130, "rs1": 258, "offset": 399, "packed": 413, "operation": 424, "unit": 428,
    "pc": 430, "lanes": 462, "slot": 467, "warp": 469, "uuid": 471,
}  # fmt: skip


def word_of(junk: int, **fields: int) -> int:
    """A packed word with some fields, and junk everywhere else; operands are those of all lanes."""
    widths = {"rs2": 128, "rs1": 128, "offset": 12, "packed": 2, "operation": 4, "unit": 2,
              "pc": 32, "lanes": 4, "slot": 2, "warp": 2, "uuid": 44}  # fmt: skip
    for name, value in fields.items():
        low, mask = _LAYOUT[name], (1 << widths[name]) - 1
        junk = junk & ~(mask << low) | (value & mask) << low
    return junk


class RandomCore:
    """What a core issues: blocks of consecutive warps that begin and end, accesses, barriers.

    Only what is supported; the program counter is the number of the instruction.

    Attributes
    ----------
    bins : Counter of str
        How often each thing was drawn.
    """

    def __init__(self, seed: object):
        self._rng = random.Random(f"core {seed}")
        self._warps: dict[int, int] = {}  # block slot of each warp that runs
        self._count = [0] * 4
        self._number = 0
        self.bins: Counter[str] = Counter()

    def item(self) -> tuple[str, Any]:
        """A start (warp, slot, rank, count, lanes) or an instruction's word, and which it is."""
        rng = self._rng
        free = [warp for warp in range(4) if warp not in self._warps]
        if len(free) == 4 or (free and rng.random() < 0.04):
            slot = next(each for each in range(4) if each not in self._warps.values())
            first = rng.choice([free[0], free[0], rng.choice(free)])
            count = 1
            while first + count in free and rng.random() < 0.8:
                count += 1
            for warp in range(first, first + count):
                self._warps[warp] = slot
            self.bins[f"{count} warps"] += 1
            return "start", [(first + n, slot, n, count, rng.randint(1, 15)) for n in range(count)]
        while True:
            word = self._word()
            found = expected(word)
            if isinstance(found, str):
                continue
            self._follow(word, found)
            return "issue", word

    def _word(self) -> int:
        rng = self._rng
        warp = rng.choice(list(self._warps))
        unit, operation = rng.choices(list(_OPERATIONS), list(_OPERATIONS.values()))[0]
        lanes = rng.randint(1, 15)
        size, base = operation & 3, rng.getrandbits(28)
        window = rng.choices(list(_WINDOWS), list(_WINDOWS.values()))[0]
        first = second = 0
        for lane in range(4):
            if rng.random() < 0.1:
                window = rng.choices(list(_WINDOWS), list(_WINDOWS.values()))[0]
            if rng.random() < 0.7:
                base = base + rng.choice([0, 1 << size, 64, 4096]) & (1 << 28) - 1
            address = (window << 28 | base) & ~((1 << size) - 1)
            first |= address << 32 * lane
            second |= rng.choice([0, 1, 1, 256, 65536, rng.getrandbits(32)]) << 32 * lane
        fields = {"rs1": first, "rs2": second}
        if unit == 2 and operation == 4:
            fields = {"rs1": 0, "rs2": 0}
            for lane in range(4):
                fields["rs1"] |= (self._warps[warp] | rng.randrange(8) << 8) << 32 * lane
                fields["rs2"] |= rng.randint(1, 4) << 32 * lane
        elif unit == 2 and operation == 0 and rng.random() < 0.5:
            fields["rs1"] = 0
        is_packed = unit == 1 and operation in (4, 5) and rng.random() < 0.7
        self._number += 1
        return word_of(
            rng.getrandbits(515), **fields, unit=unit, operation=operation, lanes=lanes, warp=warp,
            slot=self._warps[warp], packed=rng.randint(1, 2) if is_packed else 0,
            pc=4 * self._number, uuid=warp << 32 | self._number & 0xFF_FFFF,
        )  # fmt: skip

    def _follow(self, word: int, found: Any) -> None:
        warp = bits(word, 470, 469)
        if found and found[0]["kind"] == 12:
            del self._warps[warp]
        name = "nothing" if not found else f"kind {found[0]['kind']}"
        self.bins[name] += 1
        self.bins["several windows"] += bool(found) and len(found) > 1
        self.bins["packed"] += bool(bits(word, 429, 428) == 1 and bits(word, 414, 413))
        for each in found or []:
            if each["kind"] == 2:
                self.bins[f"atomic {each['op']} scope {each['scope']}"] += 1
            self.bins["unequal stores"] += each["kind"] == 1 and bool(each["marks"])
