"""Cause of a race, its object and its cure: what a report names besides the two accesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from racetrap.golden_model.barracuda.race import Missing
from racetrap.golden_model.call_stacks import Chain, own_place
from racetrap.sim.gpu.editing.edits import Edit, Replacement

_BOTH = "both halves of the pattern, release and acquire,"
_HALVES = {
    Missing.RELEASE: f"{_BOTH} are missing; the threads do not communicate",
    Missing.ACQUIRE: "the half that acquires is missing",
    Missing.SCOPE: f"{_BOTH} are there, but too narrow",
    Missing.BARRIER: "the barrier of the block is missing",
    Missing.WARP_BARRIER: "the barrier of the warp is missing",
    Missing.CLUSTER_BARRIER: "the barrier of the cluster is missing",
    Missing.UNEQUAL_STORE: "nothing says which lane stores last",
    Missing.STRONG_ACCESS: f"{_BOTH} are there, but one of the accesses is weak",
    Missing.STREAM_ORDER: "the host must order the two operations, by a stream, an event or a wait",
}


class Instruction(NamedTuple):
    """An instruction that synchronises, or should.

    Parameters
    ----------
    what : str
        ``load``, ``store``, ``atomic`` or ``fence``.
    chain : Chain
        Its place, and those of the calls that lead there.
    pc : int
        Its program counter.
    """

    what: str
    chain: Chain
    pc: int


@dataclass(frozen=True)
class Cause:
    """Why two accesses race.

    Parameters
    ----------
    missing : Missing
        What would have ordered them.
    changes : tuple of Instruction
        Instructions that lack it; none if no instruction of the run would have done.
    fence : Instruction or None
        A fence that stands too late, behind the first of these.
    shortfall : str
        What the threads do instead, and what would order them, as a clause; empty if unknown.
    """

    missing: Missing
    changes: tuple[Instruction, ...] = ()
    fence: Instruction | None = None
    shortfall: str = field(default="", compare=False)

    @property
    def in_own_code(self) -> Cause:
        """The same with functions of system and library headers folded."""
        return self.with_chains(lambda chain: chain[own_place(chain)[0] :])

    def with_chains(self, change: Callable[[Chain], Chain]) -> Cause:
        """The same with other places of the instructions."""

        def changed(instruction: Instruction) -> Instruction:
            return instruction._replace(chain=change(instruction.chain))

        fence = self.fence and changed(self.fence)
        return replace(self, changes=tuple(map(changed, self.changes)), fence=fence)

    @property
    def places(self) -> list[str]:
        """Innermost places of the instructions that lack it, and of a late fence."""
        fence = (self.fence,) if self.fence else ()
        return list(dict.fromkeys(each.chain[0] for each in (*self.changes, *fence)))

    @property
    def half(self) -> str:
        """Which half of the pattern that would order the accesses is missing, as a clause."""
        if self.shortfall and not self.changes:
            return self.shortfall
        if self.missing is not Missing.RELEASE or not self.changes:
            return _HALVES[self.missing]
        is_read = any(each.what == "load" for each in self.changes)
        return f"{_BOTH} are missing" if is_read else "the half that releases is missing"

    @property
    def kind(self) -> str:
        """The cause in a word, which has a code."""
        return "late-fence" if self.fence else self.missing.value


class MemoryObject(NamedTuple):
    """A variable or an allocation.

    Parameters
    ----------
    name : str
        Its name in the source, or what it is.
    origin : str
        What made it, in words: ``a `__device__` variable``, ``allocated by the cudaMalloc``.
    place : str
        Where; empty if unknown.
    size : int
        Its bytes.
    space : str
        ``global`` or ``shared``.
    """

    name: str
    origin: str
    place: str
    size: int
    space: str


@dataclass(frozen=True)
class Cure:
    """What cures a race, or why nothing was found.

    Parameters
    ----------
    edits : tuple of Edit
        The edits; empty if none cures it.
    reason : str
        Why there is none; empty if there is one.
    replacements : tuple of Replacement
        The edits by lines and columns.
    diff : str
        The edits as a unified diff.
    """

    edits: tuple[Edit, ...]
    reason: str = ""
    replacements: tuple[Replacement, ...] = ()
    diff: str = ""

    @property
    def words(self) -> list[str]:
        """Instructions, one for each edit."""
        return [edit.words for edit in self.edits if edit.words]
