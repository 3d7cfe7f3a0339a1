"""Candidate executions of litmus tests, and verdicts of the model."""

from racetrap.golden_model.ptx_memory_model.candidates.candidate import Candidate
from racetrap.golden_model.ptx_memory_model.candidates.judge import (
    DEFAULT_LIMIT,
    FinalState,
    Judgement,
    Outcome,
    Race,
    RaceParty,
    judge,
)
from racetrap.golden_model.ptx_memory_model.candidates.search import (
    ConsistentSet,
    Search,
    TooManyCandidatesError,
)
from racetrap.golden_model.ptx_memory_model.candidates.witness import (
    Contradiction,
    Edge,
    EdgeKind,
    Node,
    Witness,
    witness_of,
)

__all__ = [
    "DEFAULT_LIMIT",
    "Candidate",
    "ConsistentSet",
    "Contradiction",
    "Edge",
    "EdgeKind",
    "FinalState",
    "Judgement",
    "Node",
    "Outcome",
    "Race",
    "RaceParty",
    "Search",
    "TooManyCandidatesError",
    "Witness",
    "judge",
    "witness_of",
]
