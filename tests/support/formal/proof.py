"""A proof: a rule of a component, what can happen in it, and bugs that break it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from amaranth.hdl import Assert, Module, Value
from amaranth.lib import wiring

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.prover import SECONDS, holds_always, is_violated


@dataclass(frozen=True)
class Case:
    """What a harness is asked: the proof itself, whether a bug shows, or whether a thing happens.

    Parameters
    ----------
    bug : Patch or None
        Change of the RTL.
    never : str or None
        Event that shall never happen, instead of what must hold.
    """

    bug: Patch | None = None
    never: str | None = None


class Harness(wiring.Component):
    """A part with free inputs, and assertions beside it.

    Parameters
    ----------
    case : Case
        What is asked.
    inputs : mapping
        The free inputs.
    """

    def __init__(self, case: Case, inputs: Mapping[str, Any]):
        self._case = case
        super().__init__(dict(inputs))

    def state(
        self, m: Module, rules: Sequence[Value], events: Mapping[str, Value],
        helps: Sequence[Value] = (),
    ) -> None:  # fmt: skip
        """Assert the rules of the proof.

        Parameters
        ----------
        m : Module
            Module of the harness.
        rules : sequence of Value
            What is proved.
        events : mapping of str to Value
            What can happen, by name.
        helps : sequence of Value
            What the induction needs beside.  A bug is found only if it breaks a rule.
        """
        if self._case.never is not None:
            m.d.comb += Assert(~events[self._case.never])
            return
        asserted = rules if self._case.bug is not None else [*rules, *helps]
        m.d.comb += [Assert(rule) for rule in asserted]


@dataclass(frozen=True)
class Proof:
    """What is proved of a component, and how.

    Parameters
    ----------
    rule : str
        What always holds, in words.
    sizes : str
        Sizes of the component for which it is proved.
    harness : callable
        Makes the harness of a case.
    depth : int
        Cycles of the induction.
    events : sequence of str
        What must be able to happen, or the proof says nothing.
    bugs : mapping of str to Patch
        Changes of the RTL by name, each of which must break the rule.
    cycles : int
        Cycles after reset in which every event happens and every bug shows.
    seconds : int
        CPU time that the solver may take for each question.
    """

    rule: str
    sizes: str
    harness: Callable[[Case], wiring.Component]
    depth: int
    events: Sequence[str]
    bugs: Mapping[str, Patch]
    cycles: int = field(default=12)
    seconds: int = SECONDS

    def holds(self) -> bool:
        """Whether the rule holds in every cycle after reset."""
        return holds_always(self.harness(Case()), depth=self.depth, seconds=self.seconds)

    def can_happen(self, event: str) -> bool:
        """Whether an event happens in a trace that keeps all assumptions."""
        return self._breaks(Case(never=event))

    def finds(self, bug: str) -> bool:
        """Whether the rule is broken with a bug, from reset on."""
        return self._breaks(Case(bug=self.bugs[bug]))

    def _breaks(self, case: Case) -> bool:
        return is_violated(self.harness(case), cycles=self.cycles, seconds=self.seconds)


def proof_tests(proof: Proof, *, quick: bool = False) -> tuple[Callable[..., None], ...]:
    """The tests of a proof: that it holds, that its events can happen, that its bugs show.

    All belong to a campaign, but for the first one if the proof is ``quick``.
    """

    def test_holds():
        assert proof.holds()

    @pytest.mark.campaign
    @pytest.mark.parametrize("event", proof.events)
    def test_can_happen(event):
        assert proof.can_happen(event)

    @pytest.mark.campaign
    @pytest.mark.parametrize("bug", proof.bugs)
    def test_bug_shows(bug):
        assert proof.finds(bug)

    holds = test_holds if quick else pytest.mark.campaign(test_holds)
    return holds, test_can_happen, test_bug_shows
