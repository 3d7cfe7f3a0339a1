"""Cause of a race, its object and its cure: what a report names besides the two accesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from racetrap.golden_model.barracuda.race import Missing
from racetrap.golden_model.call_stacks import Chain, own_place
from racetrap.sim.gpu.editing.edits import Edit, Replacement


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
    """

    missing: Missing
    changes: tuple[Instruction, ...] = ()
    fence: Instruction | None = None

    @property
    def in_own_code(self) -> Cause:
        """The same with functions of system and library headers folded."""

        def own(instruction: Instruction) -> Instruction:
            number, _ = own_place(instruction.chain)
            return instruction._replace(chain=instruction.chain[number:])

        return Cause(self.missing, tuple(map(own, self.changes)), self.fence and own(self.fence))

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
