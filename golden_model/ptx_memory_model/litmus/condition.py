"""Condition of a litmus test on its final state.

A state maps names in conditions, ``(thread, register)`` and variables, to values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

#: A register of a thread, or a variable.
Observed = tuple[int, str] | str
#: Final values.
State = Mapping[Observed, int]


class Quantifier(Enum):
    """Quantifier of a test's condition."""

    EXISTS = "exists"
    NOT_EXISTS = "~exists"
    FORALL = "forall"


def print_observed(what: Observed) -> str:
    """Text of a register with its thread, or of a variable, as in conditions."""
    return what if isinstance(what, str) else f"{what[0]}:{what[1]}"


@dataclass(frozen=True)
class Truth:
    """Condition that every state meets."""

    def holds(self, state: State) -> bool:
        """Whether a state meets it."""
        return True

    def observed(self) -> Iterator[Observed]:
        """What it names."""
        return iter(())

    def __str__(self) -> str:
        return "true"


@dataclass(frozen=True)
class Equality:
    """A register or a variable that has, or does not have, a value."""

    what: Observed
    value: int
    equal: bool = True

    def holds(self, state: State) -> bool:
        """Whether a state meets it."""
        return (state[self.what] == self.value) is self.equal

    def observed(self) -> Iterator[Observed]:
        """What it names."""
        yield self.what

    def __str__(self) -> str:
        return f"{print_observed(self.what)} {'=' if self.equal else '!='} {self.value}"


@dataclass(frozen=True)
class Negation:
    """A condition that does not hold."""

    part: Condition

    def holds(self, state: State) -> bool:
        """Whether a state meets it."""
        return not self.part.holds(state)

    def observed(self) -> Iterator[Observed]:
        """What it names."""
        return self.part.observed()

    def __str__(self) -> str:
        return f"~({self.part})"


@dataclass(frozen=True)
class _Several:
    """A condition of several."""

    parts: tuple[Condition, ...]

    def observed(self) -> Iterator[Observed]:
        """What it names."""
        for part in self.parts:
            yield from part.observed()


class Conjunction(_Several):
    """Conditions that all hold."""

    def holds(self, state: State) -> bool:
        """Whether a state meets it."""
        return all(part.holds(state) for part in self.parts)

    def __str__(self) -> str:
        return " /\\ ".join(
            f"({part})" if isinstance(part, Disjunction) else str(part) for part in self.parts
        )


class Disjunction(_Several):
    """Conditions of which at least one holds."""

    def holds(self, state: State) -> bool:
        """Whether a state meets it."""
        return any(part.holds(state) for part in self.parts)

    def __str__(self) -> str:
        return " \\/ ".join(map(str, self.parts))


Condition = Truth | Equality | Negation | Conjunction | Disjunction


def observed_in(condition: Condition) -> tuple[Observed, ...]:
    """Names in a condition, each once."""
    return tuple(dict.fromkeys(condition.observed()))
