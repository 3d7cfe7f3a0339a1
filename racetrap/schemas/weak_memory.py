"""JSON of `racetrap litmus` and `racetrap stress`."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict


class State(TypedDict):
    """A final state."""

    values: Annotated[dict[str, int], "values of what the condition names"]
    meets_condition: Annotated[bool, "whether the condition holds in it"]
    sequentially_consistent: Annotated[bool, "whether sequentially consistent memory has it"]


class Instruction(TypedDict):
    """One side of a data race."""

    thread: Annotated[int, "its thread"]
    instruction: Annotated[int, "its number in the thread, from 0"]
    text: Annotated[str, "the instruction"]


class LitmusRace(TypedDict):
    """A data race of a test."""

    first: Annotated[Instruction, "one side"]
    second: Annotated[Instruction, "the other"]
    mixed_size: Annotated[bool, "whether the accesses overlap in part"]


class Operation(TypedDict):
    """A memory operation of an execution."""

    name: Annotated[str, "its letter"]
    thread: Annotated[int | None, "its thread; null of an initial value"]
    text: Annotated[str, "what it is"]
    value: Annotated[str, "value read or written; empty if it has none"]


class Edge(TypedDict):
    """An edge of an execution."""

    kind: Annotated[str, "relation"]
    first: Annotated[str, "letter of the operation at its begin"]
    second: Annotated[str, "letter of the one at its end"]


class Contradiction(TypedDict):
    """An axiom that an execution breaks."""

    axiom: Annotated[str, "name of the axiom"]
    section: Annotated[str, "section of the PTX manual"]
    sentence: Annotated[str, "how it is broken"]


class Execution(TypedDict):
    """One execution."""

    operations: Annotated[list[Operation], "its memory operations"]
    edges: Annotated[list[Edge], "relations between them"]
    contradictions: Annotated[list[Contradiction], "axioms that it breaks"]


class LitmusDeviation(TypedDict):
    """A choice of a run that sequentially consistent memory would not make."""

    kind: Annotated[str, "kind of choice"]
    story: Annotated[str, "the choice in words"]


class RunState(TypedDict):
    """A final state that runs by an operational model show."""

    values: Annotated[dict[str, int], "values of what the condition names"]
    deviations: Annotated[list[LitmusDeviation], "choices that lead to it"]


class LitmusRuns(TypedDict):
    """Runs by an operational model."""

    memory: Annotated[str, "the model"]
    runs: Annotated[int, "runs made"]
    states: Annotated[list[RunState], "final states shown"]
    forbidden: Annotated[list[dict[str, int]], "those that the axioms forbid"]
    not_shown: Annotated[list[dict[str, int]], "those that the axioms allow and no run shows"]
    weak: Annotated[int, "states that sequentially consistent memory does not have"]
    weak_shown: Annotated[int, "those of them that were shown"]


class LitmusJudgement(TypedDict):
    """Judgement of a litmus test."""

    file: Annotated[str, "its file"]
    test: Annotated[str, "its name"]
    condition: Annotated[str, "quantifier with condition"]
    outcome: Annotated[
        Literal["allowed", "forbidden", "required", "no claim", "never ends"],
        "`required`: every execution has it; `no claim`: after a mixed-size race; `never ends`: "
        "every execution waits at a barrier forever",
    ]
    as_expected: Annotated[bool, "whether outcome and races are as the file expects"]
    executions: Annotated[int, "consistent executions"]
    candidates: Annotated[int, "candidates that were examined"]
    states: Annotated[list[State], "final states"]
    races: Annotated[list[LitmusRace], "data races"]
    witness: Annotated[Execution | None, "one execution, or null"]
    runs: Annotated[
        NotRequired[LitmusRuns | None], "with `--memory`; null if there is nothing to compare"
    ]


class RefusedLitmus(TypedDict):
    """A file that is no litmus test of PTX, or has too many executions."""

    file: Annotated[str, "the file"]
    reason: Annotated[str, "why, in a sentence"]


class Litmus(TypedDict):
    """`racetrap litmus`."""

    tests: Annotated[list[LitmusJudgement], "one entry for each file that was judged"]
    refused: Annotated[list[RefusedLitmus], "the others"]


class Deviation(TypedDict):
    """A choice of a failing run."""

    kind: Annotated[str, "kind of choice"]
    number: Annotated[int, "its number among the choices of that kind"]
    option: Annotated[int, "what was chosen"]
    options: Annotated[int, "of how many"]
    story: Annotated[str, "the choice in words"]


class Witness(TypedDict):
    """The first failing run, shrunk."""

    failure: Annotated[str, "`wrong result`, `fault` or `hang`"]
    sentence: Annotated[str, "the failure in a sentence"]
    deviations: Annotated[list[Deviation], "its deviations from sequentially consistent memory"]
    of_memory: Annotated[int, "how many are of memory, not of the schedule"]


class Change(TypedDict):
    """A change that advice asks for."""

    action: Annotated[
        str,
        "`insert` (before a line), `insert_after`, `widen`, `remove`, `narrow` for fences, "
        "`order` and `weaken` for accesses",
    ]
    place: Annotated[str, "line of the source"]
    what: Annotated[str, "what is to stand there in PTX, or to go"]


class NotExecuted(TypedDict):
    """A fence or an ordered access of which no advice speaks."""

    place: Annotated[str, "line of the source"]
    what: Annotated[str, "what stands there in PTX"]


class AdviceDocument(TypedDict):
    """Which fences are missing or too many."""

    cured: Annotated[bool, "whether fences help"]
    runs: Annotated[int, "runs that did not refute it"]
    memories: Annotated[list[str], "memory models of these runs: `views` is always one"]
    changes: Annotated[list[Change], "what to change"]
    instead: Annotated[list[Change], "orders of accesses that do the same"]
    not_executed: Annotated[
        list[NotExecuted], "fences and ordered accesses that did not run, or not everywhere"
    ]
    races: Annotated[bool, "whether accesses race, so that no fence is judged redundant"]
    patch: Annotated[str, "the changes as a patch"]


class Stress(TypedDict):
    """`racetrap stress`."""

    kernel: Annotated[str, "kernel or program, as given"]
    arguments: Annotated[list[str], "arguments of a program"]
    launch: Annotated[str | None, "launch file, as given; null of a program"]
    memory: Annotated[str, "the weak memory model"]
    seed: Annotated[int, "`--seed`"]
    failing_seed: Annotated[
        int | None,
        "seed of the first failing random run, which `--budget 1` repeats alone; null: none",
    ]
    runs: Annotated[int, "runs made"]
    failing: Annotated[int, "those that failed"]
    failures: Annotated[dict[str, int], "these by `wrong result`, `fault` and `hang`"]
    witness: Annotated[Witness | None, "the first failing run, shrunk; null: none failed"]
    advice: Annotated[NotRequired[AdviceDocument], "with `--advise`"]
