"""PTX's memory consistency model as axioms over executions: relations, axioms, races.

``litmus`` holds programs as litmus tests, ``candidates`` their executions and verdicts.

Ref: PTX ISA 9.0, Section 8 (Memory Consistency Model).
"""

from racetrap.golden_model.ptx_memory_model.axioms import AXIOMS, Axiom, violated_axioms
from racetrap.golden_model.ptx_memory_model.events import Event, EventKind, Location, Order
from racetrap.golden_model.ptx_memory_model.execution import Execution
from racetrap.golden_model.ptx_memory_model.races import (
    ConflictingPair,
    PairClass,
    classify_conflicts,
)
from racetrap.golden_model.ptx_memory_model.relation import Relation
from racetrap.golden_model.ptx_memory_model.scopes import Place, Scope, includes
from racetrap.golden_model.ptx_memory_model.sequential import is_sequentially_consistent
from racetrap.golden_model.ptx_memory_model.structure import EventStructure

__all__ = [
    "AXIOMS",
    "Axiom",
    "ConflictingPair",
    "Event",
    "EventKind",
    "EventStructure",
    "Execution",
    "Location",
    "Order",
    "PairClass",
    "Place",
    "Relation",
    "Scope",
    "classify_conflicts",
    "includes",
    "is_sequentially_consistent",
    "violated_axioms",
]
