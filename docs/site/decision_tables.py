"""ScoRD's decision tables beside the paper's Tables III and IV, made from the tables of the code.

Ref: ScoRD (ISCA'20) Section IV-A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from docs.site.markdown import table
from racetrap.golden_model.scord.detection_logic import LOAD_TABLE, STORE_TABLE, TableRule
from racetrap.golden_model.scord.packets import Preliminary, RaceKind

_TABLES = {"load": LOAD_TABLE, "store": STORE_TABLE}


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def _outcome(rule: TableRule) -> str:
    condition = rule.condition
    if condition.race is not RaceKind.NONE:
        return f"race: {_words(condition.race.name)}"
    if condition.preliminary is not Preliminary.NONE:
        return f"no race: {_words(condition.preliminary.name)}"
    return "no race"


def _function(function: Callable[..., Any]) -> str:
    text = " ".join((function.__doc__ or "").split()).removesuffix(".").removeprefix("Whether ")
    return _words(function.__name__) + (f" ({text[0].lower()}{text[1:]})" if text else "")


def _paper(rule: TableRule) -> str:
    condition = rule.condition
    return f"{condition.table} ({condition.letter})" if condition.table else ""


def decision_table(access: str) -> str:
    """The rules of ``load`` or ``store`` in the order in which they are tried."""
    rules: Sequence[TableRule] = _TABLES[access]
    rows = (
        (f"`{rule.row.name}`", _paper(rule), _function(rule.holds), _outcome(rule),
         _function(rule.after))
        for rule in rules
    )  # fmt: skip
    return table(("row", "paper", "condition", "outcome", "resulting entry"), rows)
