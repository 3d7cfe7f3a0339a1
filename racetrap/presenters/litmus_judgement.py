"""Judgement of a litmus test by the memory model: text for a terminal, and plain data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.console import Console

from racetrap.golden_model.ptx_memory_model.candidates import (
    EdgeKind,
    Judgement,
    Node,
    Outcome,
    Race,
    Witness,
    witness_of,
)
from racetrap.golden_model.ptx_memory_model.events import INITIAL_THREAD
from racetrap.golden_model.ptx_memory_model.litmus import LitmusTest
from racetrap.golden_model.ptx_memory_model.litmus.condition import Quantifier, print_observed
from racetrap.golden_model.ptx_memory_model.scopes import Place
from racetrap.schemas.values import document
from racetrap.schemas.weak_memory import (
    Contradiction,
    Edge,
    Execution,
    Instruction,
    LitmusJudgement,
    Operation,
    State,
)


def print_place(place: Place, has_warp: bool = False) -> str:
    """Place behind a name, without what ``parse_litmus`` adds itself."""
    levels = {"warp": place.warp, "cta": place.cta, "cluster": place.cluster, "gpu": place.gpu}
    if not has_warp:
        del levels["warp"]
    if place.cluster == place.cta:
        del levels["cluster"]
    if place.gpu == 0:
        del levels["gpu"]
    return "@" + ",".join(f"{level} {number}" for level, number in levels.items())


def summary_of(judgement: Judgement) -> str:
    """The judgement in one line."""
    test = judgement.test
    expected = "as expected" if judgement.as_expected else "NOT as expected"
    if judgement.outcome is Outcome.NEVER_ENDS:
        return f"{test.name}: every execution waits at a barrier for ever, {expected}"
    if not test.ends:
        return f"{test.name}: some execution ends, {expected}"
    condition = f"{test.quantifier.value} ({test.condition})"
    return f"{test.name}: {condition} is {judgement.outcome.value}, {expected}"


def witness_title(judgement: Judgement, witness: Witness) -> str:
    """What the picture of a witness shows."""
    meets = "does not meet" if judgement.test.quantifier is Quantifier.FORALL else "meets"
    if witness.contradictions:
        return "Not an execution, since it contradicts an axiom"
    return f"A consistent execution that {meets} the condition"


def print_judgement(console: Console, judgement: Judgement, with_witness: bool) -> None:
    """Print what the model says of a test.

    Parameters
    ----------
    console : Console
        Where to.
    judgement : Judgement
        What it says.
    with_witness : bool
        Whether states, races and the witness are printed as well.
    """
    lines = [summary_of(judgement)]
    if with_witness:
        lines += _details(judgement)
    for line in lines:
        console.print(line, markup=False)


def _details(judgement: Judgement) -> list[str]:
    lines = [
        f"  {judgement.executions} consistent executions, of {judgement.candidates} candidates "
        "examined"
    ]
    for state in judgement.states:
        values = " ".join(f"{print_observed(what)}={value}" for what, value in state.values.items())
        remarks = ["meets the condition"] * state.meets_condition
        remarks += ["weak"] * (not state.sequentially_consistent)
        lines.append(f"  {values or 'any state'}{' (' * bool(remarks)}{', '.join(remarks)}"
                     f"{')' * bool(remarks)}")  # fmt: skip
    lines += [f"  {_race_text(race)}" for race in judgement.races]
    if judgement.outcome is Outcome.NO_CLAIM:
        lines.append("  The axioms do not apply to a program with a mixed-size race")
    elif judgement.witness is not None:
        witness = witness_of(judgement.witness)
        lines += ["", f"  {witness_title(judgement, witness)}:"]
        lines += [f"  {line}" for line in _picture(judgement.test, witness)]
    return [*lines, ""]


def _race_text(race: Race) -> str:
    kind = "Mixed-size race" if race.is_mixed_size else "Data race"
    parties = (f"P{party.thread} {party.text}" for party in (race.first, race.second))
    return f"{kind}: {' and '.join(parties)}"


def _picture(test: LitmusTest, witness: Witness) -> list[str]:
    """Threads as columns, then the edges by kind, then what contradicts the axioms."""
    columns = [
        [f"P{number}{print_place(thread.place, thread.place.warp != number)}",
         *(_node_text(node) for node in witness.nodes if node.thread == number)]
        for number, thread in enumerate(test.threads)
    ]  # fmt: skip
    lines = _table(columns)
    for kind in EdgeKind:
        edges = [f"{edge.first} -> {edge.second}" for edge in witness.edges if edge.kind is kind]
        if edges:
            lines.append(f"{kind.value:3} {', '.join(edges)}  ({kind.description})")
    for axiom, section, sentence in witness.contradictions:
        lines.append(f"{axiom} (Section {section}): {sentence}")
    return lines


def _node_text(node: Node) -> str:
    return f"{node.name}: {node.text}{f'  = {node.value}' if node.value else ''}"


def _table(columns: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in columns]
    return [
        " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in zip_longest(*columns, fillvalue="")
    ]


def judgement_to_dict(judgement: Judgement) -> LitmusJudgement:
    """The judgement as plain data."""
    test = judgement.test
    return {
        "file": test.file,
        "test": test.name,
        "condition": f"{test.quantifier.value} ({test.condition})",
        "outcome": judgement.outcome.value,
        "as_expected": judgement.as_expected,
        "executions": judgement.executions,
        "candidates": judgement.candidates,
        "states": [
            document(
                State,
                state,
                values={print_observed(what): value for what, value in state.values.items()},
            )
            for state in judgement.states
        ],
        "races": [
            {
                "first": document(Instruction, race.first),
                "second": document(Instruction, race.second),
                "mixed_size": race.is_mixed_size,
            }
            for race in judgement.races
        ],
        "witness": _witness_to_dict(judgement),
    }


def _witness_to_dict(judgement: Judgement) -> Execution | None:
    if judgement.witness is None or judgement.outcome is Outcome.NO_CLAIM:
        return None
    witness = witness_of(judgement.witness)
    return {
        "operations": [
            document(Operation, node, thread=None if node.thread == INITIAL_THREAD else node.thread)
            for node in witness.nodes
        ],
        "edges": [document(Edge, each, kind=each.kind.value) for each in witness.edges],
        "contradictions": [document(Contradiction, each) for each in witness.contradictions],
    }
