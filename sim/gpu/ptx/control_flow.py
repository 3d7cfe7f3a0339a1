"""Where the lanes of a warp that part at a branch come together again.

Ref: Fung et al., "Dynamic Warp Formation" (MICRO'07), Section 3: reconvergence at the
immediate post-dominator; PTX ISA 9.0, Section 9.7.12 (control flow).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from racetrap.sim.gpu.ptx.program import Function, Instruction, Target, Vector

__all__ = ["immediate_post_dominators", "is_branch", "reconvergence", "successors"]

#: Opcodes after which a lane is not in the function any more.
_ENDS = ("ret", "exit", "trap")
_BRANCHES = ("bra", "brx", *_ENDS)


def is_branch(instruction: Instruction) -> bool:
    """Whether lanes may part at ``instruction``, or go elsewhere than to the next."""
    return instruction.opcode in _BRANCHES


def successors(function: Function, index: int) -> tuple[int, ...]:
    """Indices in the function that may follow instruction ``index``, ascending.

    The number of instructions stands for the end of the function.
    """
    end = len(function.instructions)
    instruction = function.instructions[index]
    following = {index + 1} if instruction.guard or not is_branch(instruction) else set()
    if instruction.opcode in _ENDS:
        following.add(end)
    elif instruction.opcode == "bra":
        following.update(t.index for t in instruction.operands if isinstance(t, Target))
    elif instruction.opcode == "brx":
        table = instruction.operands[1]
        assert isinstance(table, Vector)
        following.update(t.index for t in table.elements if isinstance(t, Target))
    return tuple(sorted(following))


def _lasting(function: Function, index: int) -> tuple[int, ...]:
    """Successors without those where lanes of a kernel end at once, unless all do.

    Lanes that end never come together with the others, so the others need not wait for the
    point where both could: after ``if (i >= n) return;`` a warp goes on as one.  A device
    function's lanes do come together again, behind the call.
    """
    following = successors(function, index)
    if not function.is_kernel:
        return following
    end = len(function.instructions)

    def ends(successor: int) -> bool:
        if successor == end:
            return True
        target = function.instructions[successor]
        return target.opcode in _ENDS and target.guard is None

    return tuple(s for s in following if not ends(s)) or following


def _leaders(function: Function) -> list[int]:
    """First instructions of the basic blocks, ascending."""
    leaders = {0} if function.instructions else set()
    for index, instruction in enumerate(function.instructions):
        if is_branch(instruction):
            leaders.update(successors(function, index))
            leaders.add(index + 1)
    return sorted(leader for leader in leaders if leader < len(function.instructions))


def _post_order(
    end: int, sources: Mapping[int, Iterable[int]], nodes: Iterable[int]
) -> tuple[list[int], list[int]]:
    """Depth-first post-order against the edges from ``end``, and the nodes that never get there.

    Of each group of nodes from which nothing leads to the end, the last is taken as if it did.
    """
    order: list[int] = []
    seen: set[int] = set()
    lost: list[int] = []

    def visit(root: int) -> None:
        seen.add(root)
        stack = [(root, iter(sources.get(root, ())))]
        while stack:
            node, rest = stack[-1]
            fresh = next((source for source in rest if source not in seen), None)
            if fresh is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(fresh)
                stack.append((fresh, iter(sources.get(fresh, ()))))

    visit(end)
    order.pop()
    for node in sorted(nodes, reverse=True):
        if node not in seen:
            lost.append(node)
            visit(node)
    order.append(end)
    return order, lost


def immediate_post_dominators(edges: Mapping[int, Iterable[int]], end: int) -> dict[int, int]:
    """Immediate post-dominator of each node of a graph.

    Parameters
    ----------
    edges : mapping of int to iterable of int
        Successors of each node but ``end``.
    end : int
        Node in which every path ends.  In a part of the graph from which no path leads to it,
        the last node is taken to lead there.

    Ref: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    sources: dict[int, list[int]] = {}
    for node, targets in edges.items():
        for target in targets:
            sources.setdefault(target, []).append(node)
    order, lost = _post_order(end, sources, edges)
    targets = {node: list(edges[node]) + [end] * (node in lost) for node in edges}
    number = {node: position for position, node in enumerate(order)}
    found = {end: end}

    def common(first: int, second: int) -> int:
        while first != second:
            if number[first] < number[second]:
                first = found[first]
            else:
                second = found[second]
        return first

    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [target for target in targets[node] if target in found]
            best = known[0]
            for target in known[1:]:
                best = common(best, target)
            if found.get(node) != best:
                found[node] = best
                changed = True
    del found[end]
    return found


def _reaching(edges: Mapping[int, Iterable[int]], end: int) -> set[int]:
    """Nodes from which a path leads to ``end``."""
    sources: dict[int, list[int]] = {}
    for node, targets in edges.items():
        for target in targets:
            sources.setdefault(target, []).append(node)
    found = {end}
    waiting = [end]
    while waiting:
        fresh = [node for node in sources.get(waiting.pop(), ()) if node not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _edges(function: Function, lasts: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Successors of each basic block, given the last instruction of each.

    Where lanes get out of a loop only by ending, that is the loop's exit after all: without it
    nothing in the loop would have a post-dominator.
    """
    edges = {leader: _lasting(function, last) for leader, last in lasts.items()}
    lasting = _reaching(edges, len(function.instructions))
    for leader, last in lasts.items():
        if leader not in lasting:
            edges[leader] = successors(function, last)
    return edges


def reconvergence(function: Function) -> tuple[int | None, ...]:
    """Point of reconvergence of each branch of a function.

    Parameters
    ----------
    function : Function
        The function.

    Returns
    -------
    tuple of (int or None)
        For each instruction its immediate post-dominator, an index in the function, if lanes
        may part there (guarded ``bra``, ``ret`` or ``exit``, ``brx``); ``None`` for the end of
        the function and for all other instructions.  In a kernel, ways on which lanes end at
        once do not count.
    """
    end = len(function.instructions)
    leaders = _leaders(function)
    lasts = [leader - 1 for leader in leaders[1:]] + [end - 1]
    edges = _edges(function, dict(zip(leaders, lasts, strict=False)))
    found = immediate_post_dominators(edges, end)
    points: list[int | None] = [None] * end
    for leader, last in zip(leaders, lasts, strict=False):
        instruction = function.instructions[last]
        parts = instruction.opcode == "brx" or (is_branch(instruction) and instruction.guard)
        if parts and found[leader] != end:
            points[last] = found[leader]
    return tuple(points)
