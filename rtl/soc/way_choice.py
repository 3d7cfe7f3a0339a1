"""Choice of a way: the one that has the line, or the one that makes room, by tree LRU."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out


class WayChoice(wiring.Component):
    """Keeps for each set a binary tree over its ways; each node points to the half that was not
    used last.

    Without a hit the first way without a line makes room; if there is none, the one that the nodes
    from the root on point to.  With two ways that is the least recently used one; with more, never
    the one used last.  The answer is combinational, and a use counts from the next cycle on.

    Parameters
    ----------
    sets : int
        Sets, a power of two of at least 2.
    ways : int
        Ways of each, a power of two of at least 2.

    Members
    -------
    i_set : ``In``
        The set.
    i_present, i_hits : ``In(ways)``
        Its ways that have a line, and the one of these that has the line wanted.
    i_is_used : ``In(1)``
        The way is used in this cycle.
    o_way : ``Out``
        The way.

    Ref: tree pseudo-LRU (PLRUt) in Al-Zoubi et al., "Performance Evaluation of Cache Replacement
    Policies for the SPEC CPU2000 Benchmark Suite", ACMSE 2004.
    """

    def __init__(self, sets: int, ways: int):
        self._sets, self._ways = sets, ways
        super().__init__({
            "i_set": In(range(sets)), "i_present": In(ways), "i_hits": In(ways),
            "i_is_used": In(1), "o_way": Out(range(ways)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        way = self.o_way
        m.submodules.trees = trees = Memory(shape=self._ways - 1, depth=self._sets, init=[])
        tree, new_tree = trees.read_port(domain="comb"), trees.write_port()
        m.d.comb += [
            tree.addr.eq(self.i_set), new_tree.addr.eq(self.i_set),
            new_tree.en.eq(self.i_is_used), new_tree.data.eq(self._after_use(tree.data)),
            way.eq(self._least_recent(tree.data)),
        ]  # fmt: skip
        for number in reversed(range(self._ways)):
            with m.If(~self.i_present[number]):
                m.d.comb += way.eq(number)
        for number in range(self._ways):
            with m.If(self.i_hits[number]):
                m.d.comb += way.eq(number)
        return m

    # The nodes of a level of the tree follow those above it, in the order of their ways.

    def _least_recent(self, tree: Value) -> Value:
        """The way that the nodes from the root on point to."""
        way: Value = Const(0, 0)
        for level in range(len(self.o_way)):
            way = Cat(tree.bit_select((1 << level) - 1 + way, 1), way)
        return way

    def _after_use(self, tree: Value) -> Value:
        """The tree after a use of the way: the nodes on the path to it point to the other half."""
        nodes: list[Value] = []
        for level in range(len(self.o_way)):
            below = len(self.o_way) - level - 1
            for number in range(1 << level):
                is_on_path = self.o_way[below + 1 :] == number
                nodes.append(Mux(is_on_path, ~self.o_way[below], tree[len(nodes)]))
        return Cat(nodes)
