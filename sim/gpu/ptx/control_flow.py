"""Control flow of a function: branches and their reconvergence points.

Ref: Fung et al., "Dynamic Warp Formation" (MICRO'07), Section 3: reconvergence at the
immediate post-dominator; PTX ISA 9.0, Section 9.7.12 (control flow).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from racetrap.sim.gpu.ptx.module import Function, Instruction, Register, Target, Vector

if TYPE_CHECKING:
    import networkx


#: Opcodes by which a lane leaves the function.
_ENDS = ("ret", "exit", "trap")
_BRANCHES = ("bra", "brx", *_ENDS)


def is_branch(instruction: Instruction) -> bool:
    """Whether lanes may continue elsewhere than at the next instruction."""
    return instruction.opcode in _BRANCHES


def is_indirect_call(instruction: Instruction) -> bool:
    """Whether the called function is in a register."""
    return instruction.opcode == "call" and isinstance(instruction.operands[1], Register)


def may_diverge(instruction: Instruction) -> bool:
    """Whether the lanes of a warp may take different paths."""
    if instruction.opcode == "brx" or is_indirect_call(instruction):
        return True
    return instruction.guard is not None and instruction.opcode in ("bra", "ret", "exit")


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

    Lanes that end never reconverge with the others, so the others need not wait for the point
    where both could: after ``if (i >= n) return;`` a warp continues as one.  A device function's
    lanes do reconverge, behind the call.
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


def leaders_of(function: Function) -> list[int]:
    """First instructions of a function's basic blocks, ascending."""
    leaders = {0} if function.instructions else set()
    for index, instruction in enumerate(function.instructions):
        if is_branch(instruction):
            leaders.update(successors(function, index))
            leaders.add(index + 1)
    return sorted(leader for leader in leaders if leader < len(function.instructions))


def immediate_post_dominators(edges: Mapping[int, Iterable[int]], end: int) -> dict[int, int]:
    """Immediate post-dominator of each node of a graph.

    Parameters
    ----------
    edges : mapping of int to iterable of int
        Successors of each node but ``end``.
    end : int
        Node in which every path ends.  In a part of the graph from which no path leads to it,
        the last node is taken to lead there.
    """
    import networkx  # slow to import, and needed for kernels with branches alone

    graph = _reversed_graph(edges, end)
    while lost := set(edges) - networkx.descendants(graph, end):
        graph.add_edge(end, max(lost))
    found = networkx.immediate_dominators(graph, end)
    return {node: found[node] for node in edges}


def _reversed_graph(edges: Mapping[int, Iterable[int]], end: int) -> networkx.DiGraph:
    """Graph whose edges lead from each node to its predecessors."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from([end, *edges])
    graph.add_edges_from((target, node) for node, targets in edges.items() for target in targets)
    return graph


def _edges(function: Function, lasts: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Successors of each basic block, given the last instruction of each.

    Where lanes get out of a loop only by ending, that is the loop's exit after all: without it
    nothing in the loop would have a post-dominator.
    """
    import networkx

    edges = {leader: _lasting(function, last) for leader, last in lasts.items()}
    end = len(function.instructions)
    reaching = networkx.descendants(_reversed_graph(edges, end), end)
    for leader, last in lasts.items():
        if leader not in reaching:
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
        For each instruction its immediate post-dominator, an index in the function, if lanes may
        diverge there (guarded ``bra``, ``ret`` or ``exit``, ``brx``, a call by a register);
        ``None`` for the end of the function and for all other instructions.  In a kernel, paths on
        which lanes end at once do not count.
    """
    end = len(function.instructions)
    points: list[int | None] = [None] * end
    if not any(map(may_diverge, function.instructions)):
        return tuple(points)
    leaders = leaders_of(function)
    lasts = [leader - 1 for leader in leaders[1:]] + [end - 1]
    edges = _edges(function, dict(zip(leaders, lasts, strict=False)))
    found = immediate_post_dominators(edges, end)
    for leader, last in zip(leaders, lasts, strict=False):
        if may_diverge(function.instructions[last]) and found[leader] != end:
            points[last] = found[leader]
    for index, instruction in enumerate(function.instructions[:-1]):
        if is_indirect_call(instruction):
            points[index] = index + 1
    return tuple(points)
