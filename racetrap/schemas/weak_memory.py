"""JSON of `racetrap litmus` and `racetrap stress`."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict


class State(TypedDict):
    """A final state."""

    values: Annotated[dict[str, int], "values of the registers and locations in the condition"]
    meets_condition: Annotated[bool, "whether the condition holds in it"]
    sequentially_consistent: Annotated[bool, "whether sequentially consistent memory allows it"]


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
    thread: Annotated[int | None, "its thread; null for an initial value"]
    text: Annotated[str, "what it is"]
    value: Annotated[str, "value read or written; empty if there is none"]


class Edge(TypedDict):
    """An edge of an execution."""

    kind: Annotated[str, "relation"]
    first: Annotated[str, "letter of the operation at which it begins"]
    second: Annotated[str, "letter of the operation at which it ends"]


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
    """A final state reached by runs of an operational model."""

    values: Annotated[dict[str, int], "values of the registers and locations in the condition"]
    deviations: Annotated[list[LitmusDeviation], "choices that lead to it"]


class LitmusRuns(TypedDict):
    """Runs of an operational model."""

    memory: Annotated[str, "the model"]
    runs: Annotated[int, "runs made"]
    states: Annotated[list[RunState], "final states reached"]
    forbidden: Annotated[list[dict[str, int]], "states reached that the axioms forbid"]
    not_shown: Annotated[list[dict[str, int]], "states that the axioms allow and no run reaches"]
    weak: Annotated[int, "number of states that sequentially consistent memory does not allow"]
    weak_shown: Annotated[int, "number of these states that were reached"]


class LitmusJudgement(TypedDict):
    """Judgement of a litmus test."""

    file: Annotated[str, "its file"]
    test: Annotated[str, "its name"]
    condition: Annotated[str, "quantifier with condition"]
    outcome: Annotated[
        Literal["allowed", "forbidden", "required", "no claim", "never ends"],
        "`required`: every execution has it; `no claim`: after a mixed-size race; `never ends`: "
        "every execution waits at a barrier for ever",
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
    """A file that is not a litmus test of PTX, or has too many executions."""

    file: Annotated[str, "the file"]
    reason: Annotated[str, "why, in a sentence"]


class Litmus(TypedDict):
    """`racetrap litmus`."""

    tests: Annotated[list[LitmusJudgement], "one entry for each file that was judged"]
    refused: Annotated[list[RefusedLitmus], "one entry for each file that was not judged"]


class Deviation(TypedDict):
    """A choice of a failing run."""

    kind: Annotated[str, "kind of choice"]
    number: Annotated[int, "its number among the choices of that kind"]
    option: Annotated[int, "the option chosen"]
    options: Annotated[int, "number of options"]
    story: Annotated[str, "the choice in words"]


class Witness(TypedDict):
    """The first failing run, shrunk."""

    failure: Annotated[str, "`wrong result`, `fault` or `hang`"]
    sentence: Annotated[str, "the failure in a sentence"]
    deviations: Annotated[list[Deviation], "its deviations from sequentially consistent memory"]
    of_memory: Annotated[int, "number of deviations of the memory, not of the schedule"]


class Change(TypedDict):
    """A change that the advice proposes."""

    action: Annotated[
        str,
        "`insert` (before a line), `insert_after`, `widen`, `remove`, `narrow` for fences, "
        "`order` and `weaken` for accesses",
    ]
    place: Annotated[str, "line of the source"]
    what: Annotated[str, "PTX to insert there, or to remove"]


class NotExecuted(TypedDict):
    """A fence or an ordered access without advice."""

    place: Annotated[str, "line of the source"]
    what: Annotated[str, "its PTX"]


class AdviceDocument(TypedDict):
    """Missing and redundant fences."""

    cured: Annotated[bool, "whether fences cure the failure"]
    runs: Annotated[int, "number of runs that did not refute the advice"]
    memories: Annotated[list[str], "memory models of these runs: `views` is always one"]
    changes: Annotated[list[Change], "changes to make"]
    instead: Annotated[list[Change], "orders of accesses that have the same effect"]
    not_executed: Annotated[
        list[NotExecuted], "fences and ordered accesses that did not run, or not everywhere"
    ]
    races: Annotated[bool, "whether accesses race; if so, no fence is judged redundant"]
    patch: Annotated[str, "the changes as a patch"]


class Stress(TypedDict):
    """`racetrap stress`."""

    kernel: Annotated[str, "kernel or program, as given"]
    arguments: Annotated[list[str], "arguments of a program"]
    launch: Annotated[str | None, "launch file, as given; null for a program"]
    memory: Annotated[str, "the weak memory model"]
    seed: Annotated[int, "`--seed`"]
    failing_seed: Annotated[
        int | None,
        "seed of the first failing random run, which `--budget 1` repeats; null if none failed",
    ]
    runs: Annotated[int, "runs made"]
    failing: Annotated[int, "runs that failed"]
    failures: Annotated[dict[str, int], "failing runs by `wrong result`, `fault` and `hang`"]
    witness: Annotated[Witness | None, "the first failing run, shrunk; null if none failed"]
    advice: Annotated[NotRequired[AdviceDocument], "with `--advise`"]
