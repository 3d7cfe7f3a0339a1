"""The choice of a way against a list of the ways' uses, and planted bugs."""

from random import Random

import pytest

from tests.support.planted_bugs import modules_with
from tests.support.rtl.streams import simulate
from tests.support.soc.planted_bugs import CHOICE_BUGS, WAY_CHOICE

_SETS, _STEPS = 4, 300


class _Tree:
    """The node of two or more ways, by definition: which half was used last."""

    def __init__(self, ways):
        self._halves = [_Tree(ways // 2), _Tree(ways // 2)] if ways > 1 else []
        self._size, self._older = ways // 2, 0

    def use(self, way):
        if self._halves:
            half, rest = divmod(way, self._size)
            self._older = 1 - half
            self._halves[half].use(rest)

    @property
    def replaced(self):
        if not self._halves:
            return 0
        return self._older * self._size + self._halves[self._older].replaced


def _wrong(ways, bug=None, seed=1):
    """Ways that differ from the tree's, and those, of full sets, that were used last."""
    random, dut = Random(seed), modules_with([WAY_CHOICE], bug)[WAY_CHOICE].WayChoice(_SETS, ways)
    trees, wrong = [_Tree(ways) for _ in range(_SETS)], []

    async def play(ctx):
        for _ in range(_STEPS):
            number, is_used = random.randrange(_SETS), random.randrange(2)
            present = random.choice((2**ways - 1, random.getrandbits(ways)))
            hit = random.choice([None, *(way for way in range(ways) if present >> way & 1)])
            ctx.set(dut.i_set, number)
            ctx.set(dut.i_present, present)
            ctx.set(dut.i_hits, 0 if hit is None else 1 << hit)
            ctx.set(dut.i_is_used, is_used)
            empty = [way for way in range(ways) if not present >> way & 1]
            due = hit if hit is not None else [*empty, trees[number].replaced][0]
            wrong.append(ctx.get(dut.o_way) != due)
            if is_used:
                trees[number].use(due)
            await ctx.tick()

    simulate(dut, play, cycles=_STEPS + 10)
    return sum(wrong)


@pytest.mark.parametrize("ways", [2, 4])
def test_it_is_the_tree(ways):
    assert _wrong(ways) == 0


@pytest.mark.parametrize("name", CHOICE_BUGS)
def test_planted_bug_is_found(name):
    assert _wrong(4, CHOICE_BUGS[name]) > 0


@pytest.mark.parametrize("ways", [2, 4])
def test_a_full_set_is_used_in_turn(ways):
    """Uses of what is replaced go through all ways before one comes again."""
    tree, order = _Tree(ways), []
    for _ in range(2 * ways):
        order.append(tree.replaced)
        tree.use(order[-1])
    assert sorted(order[:ways]) == list(range(ways))
    assert order[ways:] == order[:ways]
