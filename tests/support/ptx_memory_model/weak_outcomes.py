"""Operational models against the axioms on litmus tests, and fast searches against plain ones.

``python -m tests.support.ptx_memory_model.weak_outcomes --shapes 20`` compares what a model shows,
with all choices, with what the axioms allow, on the documented tests and on so many of each shape;
it names each test of which not all is shown, and exits with 1 if anything forbidden is.

``--mutants`` prints of each shape, with the weakest fences that forbid its cycle, how many mutants
show the cycle: one fence left out, narrowed or weakened; it exits with 1 if one does not.

``--searches`` compares searches with plain ones that leave no run out, on the documented tests:
that with all choices, which does not go on from a state twice, and that with at most two
deviations; it exits with 1 if their outcomes are not the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from racetrap.golden_model.ptx_memory_model.candidates import judge
from racetrap.golden_model.ptx_memory_model.litmus import LitmusTest, read_litmus
from racetrap.golden_model.ptx_memory_model.litmus.condition import observed_in
from racetrap.golden_model.ptx_memory_model.operational import Choices, Kind
from racetrap.golden_model.ptx_memory_model.operational.exploration import MODELS, compare, explore
from racetrap.golden_model.ptx_memory_model.operational.machine import Machine, is_covered
from racetrap.sim.gpu.stress.subject import Run
from racetrap.sim.gpu.stress.systematic import bounded_runs
from tests.support import REPOSITORY
from tests.support.ptx_memory_model.bounded_runs import all_bounded_runs
from tests.support.ptx_memory_model.shapes import SHAPES, decorated, fenced

#: Most runs of a plain search.
_MOST = 20_000
#: What is said of a run in which a thread waits for ever.
_STUCK = "stuck"


@dataclass
class LitmusSubject:
    """A litmus test for a search: the final state is what is said of a run.

    Parameters
    ----------
    test : LitmusTest
        The test.
    """

    test: LitmusTest

    def run(self, memory: str, choices: Choices, changes: object = None) -> Run:
        """Run by a memory model."""
        machine = Machine(self.test, MODELS[memory], choices)
        while machine.step():
            pass
        if machine.is_stuck:
            return Run(None, _STUCK, tuple(choices.deviations))
        state = machine.final_state(observed_in(self.test.condition))
        return Run(None, str(state), tuple(choices.deviations))


def documented_tests() -> Iterator[LitmusTest]:
    """The documented tests that operational models cover."""
    for file in sorted((REPOSITORY / "docs" / "examples" / "litmus").glob("*.litmus")):
        test = read_litmus(file)
        if is_covered(test):
            yield test


#: Final states, and runs.
Outcomes = tuple[set[str], int]


class _Options(Choices):
    """Given options, then the first ones; remembers how many there were."""

    def __init__(self, given: list[int]) -> None:
        super().__init__()
        self._given = given
        self.taken: list[tuple[int, int]] = []

    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        number = len(self.taken)
        option = self._given[number] if number < len(self._given) else 0
        self.taken.append((option, options))
        return option


def whole_outcomes(test: LitmusTest, memory: str) -> list[Outcomes] | None:
    """Outcomes of the plain search with all choices and of the fast one; nothing if the plain one
    takes too many runs."""
    subject, states, runs = LitmusSubject(test), set[str](), 0
    left: list[list[int]] = [[]]
    while left:
        given = left.pop()
        choices, runs = _Options(given), runs + 1
        if runs > _MOST:
            return None
        states.add(subject.run(memory, choices).sentence)
        taken = [option for option, _ in choices.taken]
        for number in range(len(given), len(taken)):
            options = choices.taken[number][1]
            left += [[*taken[:number], other] for other in range(1, options)]
    fast = explore(test, MODELS[memory])
    return [(states - {_STUCK}, runs), (set(map(str, fast.outcomes)), fast.runs)]


def bounded_outcomes(test: LitmusTest, memory: str, most: int) -> list[Outcomes] | None:
    """The same of the searches with at most so many deviations."""
    found = []
    for search in (all_bounded_runs, bounded_runs):
        states: set[str] = set()
        runs = 0
        for run in search(LitmusSubject(test), memory, most):  # type: ignore[arg-type]
            states.add(run.sentence)
            runs += 1
            if runs > _MOST:
                return None
        found.append((states, runs))
    return found


def _compare_models(shapes: int, memory: str) -> int:
    tests = [*documented_tests()]
    tests += [decorated(name, seed) for name in SHAPES for seed in range(shapes)]
    compared = forbidden = weak = shown = 0
    missing = []
    for test in tests:
        comparison = compare(judge(test), MODELS[memory])
        if comparison is None:
            continue
        compared += 1
        weak, shown = weak + comparison.weak, shown + comparison.weak_shown
        if comparison.forbidden:
            forbidden += 1
            print(f"FORBIDDEN: {test.name}: {comparison.forbidden}")
        if comparison.missing:
            missing.append(test.name)
            print(f"not shown: {test.name}: {comparison.missing}")
    print(
        f"{memory}: {compared} tests compared, {forbidden} with a forbidden outcome; weak outcomes "
        f"shown {shown} of {weak}; {len(missing)} tests not shown whole"
    )
    return forbidden


_OPCODES = {"A": "fence.acq_rel.gpu", "S": "fence.sc.gpu"}


def mutants(name: str) -> Iterator[LitmusTest]:
    """A shape with the weakest fences that forbid its cycle, then each mutant of one fence."""
    fences = [_OPCODES[kind] for kind in SHAPES[name].fences]
    yield fenced(name, fences)
    for number, fence in enumerate(fences):
        weaker = {"", fence.replace(".gpu", ".cta"), fence.replace(".sc", ".acq_rel")} - {fence}
        for other in sorted(weaker):
            yield fenced(name, [*fences[:number], other, *fences[number + 1 :]])


def shows_cycle(test: LitmusTest, memory: str) -> bool:
    """Whether a model shows a final state that meets a test's condition."""
    comparison = compare(judge(test), MODELS[memory])
    assert comparison is not None
    # What the axioms forbid is, of these tests, the cycle.
    return bool(comparison.forbidden) or any(
        state.meets_condition and tuple(state.values.values()) in comparison.exploration.outcomes
        for state in judge(test).states
    )


def _show_mutants(memory: str) -> int:
    wrong = 0
    for name in SHAPES:
        right, *changed = mutants(name)
        hidden = [test.name for test in changed if not shows_cycle(test, memory)]
        shown = len(changed) - len(hidden)
        is_right = not shows_cycle(right, memory)
        wrong += len(hidden) + (not is_right)
        verdict = "the cycle is not shown" if is_right else "THE CYCLE IS SHOWN"
        print(f"{right.name}: {verdict}; {shown} of {len(changed)} mutants show it", *hidden)
    return wrong


def _compare_searches(memory: str, most: int) -> int:
    different = 0
    for name, search in (
        ("all choices", lambda test: whole_outcomes(test, memory)),
        (f"at most {most} deviations", lambda test: bounded_outcomes(test, memory, most)),
    ):
        compared = left_out = plain_runs = fast_runs = 0
        for test in documented_tests():
            found = search(test)
            if found is None:
                left_out += 1
                continue
            (plain, before), (fast, after) = found
            compared, plain_runs, fast_runs = compared + 1, plain_runs + before, fast_runs + after
            if plain != fast:
                different += 1
                print(f"different: {test.name}: {sorted(plain ^ fast)}")
        print(
            f"{memory}, {name}: {compared} tests compared, {different} different, {left_out} left "
            f"out (more than {_MOST} runs); {plain_runs} plain runs, {fast_runs} fast ones: "
            f"factor {plain_runs / max(fast_runs, 1):.1f}",
            flush=True,
        )
    return different


def main() -> None:
    """Compare, and exit with 1 if something differs."""
    parser = argparse.ArgumentParser(description="Operational models against the axioms.")
    parser.add_argument("--shapes", type=int, default=20, help="tests of each shape")
    parser.add_argument("--memory", choices=MODELS, default="views", help="memory model")
    parser.add_argument("--searches", action="store_true", help="compare searches instead")
    parser.add_argument("--deviations", type=int, default=2, help="most deviations of a search")
    parser.add_argument("--mutants", action="store_true", help="run mutants of shapes instead")
    options = parser.parse_args()
    if options.mutants:
        sys.exit(bool(_show_mutants(options.memory)))
    if options.searches:
        sys.exit(bool(_compare_searches(options.memory, options.deviations)))
    sys.exit(bool(_compare_models(options.shapes, options.memory)))


if __name__ == "__main__":
    main()
