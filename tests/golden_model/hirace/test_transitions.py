"""Transitions: the rules against the authors' own table."""

import csv
from itertools import product
from pathlib import Path

import pytest

from racetrap.golden_model.hirace.states import Access, Relation, State, Sync
from racetrap.golden_model.hirace.transitions import (
    EXCEPTIONS,
    STATE_OF,
    TRANSITIONS,
    rule,
    transition,
)

_ACCESSES = dict(zip(("R", "W", "BA", "GA"), Access, strict=True))
_SYNCS = dict(zip("UWB", Sync, strict=True))
_RELATIONS = dict(zip("SWBG", Relation, strict=True))


def _state(name: str) -> State:
    return State[name.replace("-", "_")]


@pytest.fixture(scope="module")
def table() -> dict:
    with Path(__file__).with_name("transitions.csv").open(encoding="utf-8", newline="") as lines:
        return {
            (
                _state(row["state"]), _ACCESSES[row["access"]], _SYNCS[row["sync"]],
                _RELATIONS[row["relation"]],
            ): _state(row["next"])
            for row in csv.DictReader(lines)
        }  # fmt: skip


def test_every_transition_is_that_of_the_authors_table(table):
    assert len(table) == len(State) * 4 * 3 * 4 == 1200
    assert {key: transition(*key) for key in table} == table


def test_exceptions_are_just_the_entries_that_the_rules_would_have_otherwise(table):
    assert {key: after for key, after in table.items() if rule(*key) != after} == EXCEPTIONS
    assert len(EXCEPTIONS) == 5


def test_codes_are_the_transitions_in_order():
    keys = product(State, Access, Sync, Relation)
    assert [State(code) for code in TRANSITIONS] == [transition(*key) for key in keys]


def test_each_state_has_a_form_of_its_own():
    assert len(STATE_OF) == len(State)
    assert [int(state) for state in State] == list(range(25))
