"""Rules 6, 7 and 9: kinds, codes and unused fields, by array operations on any schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from racetrap.golden_model.trace.container.rules import Rule, RuleViolation, violation
from racetrap.golden_model.trace.container.schema import EventSchema, Word

#: Events checked together: few enough that intermediate arrays stay in caches.
_BLOCK_EVENTS = 1 << 18


def below(
    rule: Rule, events: np.ndarray, name: str, count: int, having: np.ndarray | None = None
) -> RuleViolation:
    """Violation by events, optionally of some kinds only, with a field of ``count`` or more."""
    values = events[name]
    rows = np.flatnonzero(values >= count)
    if having is not None:
        rows = rows[having[events["kind"][rows]]]
    return RuleViolation(
        rule, rows, lambda row: f"Field {name} must be below {count}, not {values[row]}"
    )


def field_violations(schema: EventSchema, events: np.ndarray) -> Iterator[RuleViolation]:
    """Violations of rules 6, 7 and 9, in turn."""
    yield below(Rule.KIND, events, "kind", len(schema.kinds))
    meanings: defaultdict[str, set[int]] = defaultdict(set)
    codes: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    conditions: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for kind, fields in schema.fields.items():
        for field in fields:
            count = max(field.codes.values()) + 1 if isinstance(field, Word) else 0
            meanings[field.column].add(count)
            if isinstance(field, Word) and not field.bits:
                codes[field.column, count].append(kind)
                if field.condition:
                    conditions[field.column, field.condition].append(kind)
    for (name, count), kinds in codes.items():
        # A column with one meaning must also be 0 where it is unused.
        having = None if len(meanings[name]) == 1 else schema.having(kinds)
        yield below(Rule.CODE, events, name, count, having)
    for name in sorted(set().union(*schema.used.values())):
        users = schema.having(kind for kind, used in schema.used.items() if name in used)
        yield _must_be_0(schema, events, name, ~users[events["kind"]], "")
    for (name, condition), kinds in conditions.items():
        without = (events[condition] == 0) & schema.having(kinds)[events["kind"]]
        yield _must_be_0(schema, events, name, without, f" without {condition}")


def _must_be_0(
    schema: EventSchema, events: np.ndarray, name: str, where: np.ndarray, words: str
) -> RuleViolation:
    kind, values = events["kind"], events[name]
    return violation(
        Rule.UNUSED_FIELD,
        where & (values != 0),
        lambda row: f"Field {name} must be 0 in {schema.name(kind[row])}{words}, not {values[row]}",
    )


def violations_by_block(
    events: np.ndarray, rules: Callable[[np.ndarray], Iterator[RuleViolation]]
) -> Iterator[RuleViolation]:
    """Violations of rules about single events, block by block."""
    for start in range(0, max(len(events), 1), _BLOCK_EVENTS):
        for found in rules(events[start : start + _BLOCK_EVENTS]):
            yield _moved(found, start)


def _moved(found: RuleViolation, start: int) -> RuleViolation:
    """Violation of the trace from one in a block that begins at event ``start``."""
    rows: np.ndarray = found.rows + start
    return RuleViolation(found.rule, rows, lambda row: found.describe(row - start))
