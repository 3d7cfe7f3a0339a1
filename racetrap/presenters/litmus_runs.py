"""Runs of a litmus test by an operational model beside the axioms: text, and plain data."""

from __future__ import annotations

from rich.console import Console

from racetrap.golden_model.ptx_memory_model.candidates import Judgement
from racetrap.golden_model.ptx_memory_model.litmus.condition import observed_in, print_observed
from racetrap.golden_model.ptx_memory_model.operational import Deviation
from racetrap.golden_model.ptx_memory_model.operational.exploration import Comparison
from racetrap.schemas.weak_memory import LitmusDeviation, LitmusRuns


def _values(judgement: Judgement, state: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(map(print_observed, observed_in(judgement.test.condition)), state, strict=True))


def _text(judgement: Judgement, state: tuple[int, ...]) -> str:
    return " ".join(f"{name}={value}" for name, value in _values(judgement, state).items())


def print_comparison(
    console: Console, judgement: Judgement, memory: str, comparison: Comparison | None
) -> None:
    """Print what a model showed of a test: counts, then each difference."""
    if comparison is None:
        console.print(f"  {memory}: not compared (mixed-size race or asynchronous copy)")
        return
    shown = len(comparison.exploration.outcomes)
    lines = [
        f"{memory}: {shown} final states in {comparison.exploration.runs} runs, "
        f"{comparison.weak_shown} of {comparison.weak} weak ones"
    ]
    for name, states in (("FORBIDDEN", comparison.forbidden), ("Not shown", comparison.missing)):
        lines += [f"{name}: {_text(judgement, state)}" for state in states]
    for line in lines:
        console.print(f"  {line}", markup=False)


def _deviation_to_dict(deviation: Deviation) -> LitmusDeviation:
    return {"kind": deviation.kind.value, "story": deviation.story}


def comparison_to_dict(
    judgement: Judgement, memory: str, comparison: Comparison | None
) -> LitmusRuns | None:
    """The same as plain data; nothing if there is nothing to compare."""
    if comparison is None:
        return None
    return {
        "memory": memory,
        "runs": comparison.exploration.runs,
        "states": [
            {
                "values": _values(judgement, state),
                "deviations": list(map(_deviation_to_dict, deviations)),
            }
            for state, deviations in sorted(comparison.exploration.outcomes.items())
        ],
        "forbidden": [_values(judgement, state) for state in comparison.forbidden],
        "not_shown": [_values(judgement, state) for state in comparison.missing],
        "weak": comparison.weak,
        "weak_shown": comparison.weak_shown,
    }
