"""Golden model of PTX's memory model against its second transcription.

``python -m tests.support.ptx_memory_model.comparison --shapes 20 --random 1000 --seed 1`` compares
shapes (that many of each) and random tests; it prints every difference, and exits with 1 if there
is one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from racetrap.golden_model.ptx_memory_model.candidates import TooManyCandidatesError, judge
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, LitmusTest
from tests.support.ptx_memory_model.printer import print_litmus
from tests.support.ptx_memory_model.random_tests import random_litmus_test
from tests.support.ptx_memory_model.shapes import SHAPES, decorated
from tests.support.ptx_memory_model.solver import Answer, solve

#: Most candidate executions of a random test; with more it is left out.
_LIMIT = 20_000


def answer_of(test: LitmusTest, limit: int = _LIMIT) -> Answer:
    """What the golden model says, in the second transcription's form."""
    judgement = judge(test, limit)
    races = {
        (race.first[:2], race.second[:2], race.is_mixed_size) for race in judgement.races
    }  # fmt: skip
    states = frozenset(tuple(state.values.values()) for state in judgement.states)
    return Answer(states, frozenset(races))


def _verdict(test: LitmusTest) -> str:
    try:
        return "equal" if answer_of(test) == solve(test) else "different"
    except TooManyCandidatesError:
        return "too many candidates"
    except OverflowError:
        return "value beyond those of the solver"
    except LitmusError:
        return "no execution that ends, or undefined use of a barrier"


def _tests(shapes: int, random: int, seed: int) -> Iterator[LitmusTest]:
    for number in range(seed, seed + shapes):
        yield from (decorated(name, number) for name in SHAPES)
    yield from map(random_litmus_test, range(seed, seed + random))


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", type=int, default=20, help="tests of each shape")
    parser.add_argument("--random", type=int, default=1000, help="random tests")
    parser.add_argument("--seed", type=int, default=1, help="first seed")
    arguments = parser.parse_args()
    verdicts: Counter[str] = Counter()
    for test in _tests(arguments.shapes, arguments.random, arguments.seed):
        verdict = _verdict(test)
        verdicts[verdict] += 1
        if verdict == "different":
            print(print_litmus(test))
    for verdict, count in verdicts.most_common():
        print(f"{count:6} {verdict}")
    sys.exit(bool(verdicts["different"]))


if __name__ == "__main__":
    main()
