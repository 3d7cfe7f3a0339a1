"""Planted errors in the axioms and in what they are made of: a litmus test of the documentation
catches each."""

import functools
import importlib

import pytest

from racetrap.golden_model.ptx_memory_model import AXIOMS, Execution, Order, Relation, Scope
from racetrap.golden_model.ptx_memory_model import structure as structure_module
from racetrap.golden_model.ptx_memory_model.candidates import Search
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from racetrap.golden_model.ptx_memory_model.structure import EventStructure, Synchronization
from tests.support import REPOSITORY

# The package has a function of the module's name.
judge_module = importlib.import_module("racetrap.golden_model.ptx_memory_model.candidates.judge")
_FOLDER = REPOSITORY / "docs" / "examples" / "litmus"


def _as_expected(name):
    return judge_module.judge(read_litmus(_FOLDER / f"{name}.litmus")).as_expected


@pytest.mark.parametrize(
    ("axiom", "name"),
    [
        ("Coherence", "CoWW+rel+acq"),
        ("No-Thin-Air", "LB+data"),
        ("SC-per-Location", "Exch+Exch"),
        ("Causality", "MP+rel+acq"),
    ],
)
def test_an_axiom_that_is_missing_is_missed(monkeypatch, axiom, name):
    """Atomicity follows from SC-per-Location, since an atomic is one event here; a Fence-SC order
    that contradicts base causality contradicts Causality or Coherence as well."""
    assert _as_expected(name)
    kept = [one for one in AXIOMS if one.name != axiom]
    monkeypatch.setattr(judge_module, "Search", functools.partial(Search, axioms=kept))
    assert not _as_expected(name)


def _scope_of_one_side(self, one, other):
    if one.scope is None or other.scope is None:
        return False
    here, there = self.places[one.thread], self.places[other.thread]
    includes = structure_module.includes
    return includes(one.scope, here, there) or includes(other.scope, there, here)


def _scopes_of_all(self, one, other):
    return one.scope is not None and other.scope is not None


def _one_strong_suffices(self, one, other):
    here, there = self.places[one.thread], self.places[other.thread]
    scopes = [event.scope for event in (one, other) if event.scope is not None]
    return bool(scopes) and all(structure_module.includes(s, here, there) for s in scopes)


def _fences_of_any_scope(self):
    return tuple(
        Synchronization(first, write, read, last)
        for first, write in self.release_patterns
        for read, last in self.acquire_patterns
        if self.events[write].location == self.events[read].location
    )


def _no_observation_through_atomics(self):
    strong = self.structure.morally_strong
    pairs = [(w[0], r) for r, w in self.sources.items() if (w[0], r) in strong]
    return Relation.of(len(self.structure.events), pairs)


def _no_fence_sc_order(self):
    patterns = [
        (pair.first, pair.last)
        for pair in self.structure.synchronizations
        if (pair.write, pair.read) in self.observation_order
    ]
    return Relation.of(len(self.structure.events), patterns) | self.structure.barrier_order


def _base_causality_alone(self):
    return self.structure.preserved(self.base_causality)


def _barriers_order_nothing(self, synchronizes):
    order = self.fixed_causality | synchronizes
    order = (order - self.barrier_order).closure()
    return order | self.issue_order | order.then(self.issue_order)


def _initial_writes_unordered(self):
    return self.program_order | self.barrier_order | self.asynchronous_order


def _only_fences_begin(self, write):
    return [
        first
        for first, event in enumerate(self.events)
        if (first, write) in self.program_order and event.order.releases and event.location is None
    ]


def _any_location_ends(self, read):
    return [
        last
        for last, event in enumerate(self.events)
        if (read, last) in self.program_order and event.order.acquires
    ]


def _strong_whatever_overlaps(self):
    def related(first, second):
        one, other = self.events[first], self.events[second]
        same_thread = one.thread == other.thread
        return same_thread or self._include_each_other(one, other)

    return self._symmetric(related)


def _releases_like_acq_rel(self):
    return self in (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SC)


def _cluster_is_the_device(scope, executing, other):
    levels = {Scope.CTA: 3, Scope.CLUSTER: 1, Scope.GPU: 1, Scope.SYS: 0}[scope]
    return executing[:levels] == other[:levels]


def _system_is_the_device(scope, executing, other):
    levels = {Scope.CTA: 3, Scope.CLUSTER: 2, Scope.GPU: 1, Scope.SYS: 1}[scope]
    return executing[:levels] == other[:levels]


#: What is changed, into what, and the test that catches it.
_ERRORS = [
    (EventStructure, "_include_each_other", _scope_of_one_side, "MP+rel.cta+acq"),
    (EventStructure, "_include_each_other", _scopes_of_all, "SB+sc.cta+sc.cta"),
    (EventStructure, "_include_each_other", _one_strong_suffices, "CoRR+relaxed+weak"),
    (EventStructure, "synchronizations", _fences_of_any_scope, "MP+fence.cta+fence"),
    (EventStructure, "base_causality", _barriers_order_nothing, "Bar+sync"),
    (EventStructure, "fixed_causality", _initial_writes_unordered, "MP+rel+acq"),
    (EventStructure, "_beginnings", _only_fences_begin, "MP+rel-rlx+acq"),
    (EventStructure, "_beginnings", lambda self, write: [], "MP+fence+fence"),
    (EventStructure, "_endings", _any_location_ends, "MP+fence+rlx-acq-other"),
    (EventStructure, "_endings", lambda self, read: [], "LB+fences"),
    (EventStructure, "morally_strong", _strong_whatever_overlaps, "Size+mixed-race"),
    (Execution, "observation_order", _no_observation_through_atomics, "RelSeq+atom"),
    (Execution, "synchronizes_with", _no_fence_sc_order, "SB+sc+sc"),
    (Execution, "causality_order", _base_causality_alone, "WRC+rlx+rel+acq"),
    (Order, "releases", _releases_like_acq_rel, "ISA2+fence-acquire-only"),
    (structure_module, "includes", _cluster_is_the_device, "MP+rel.cluster+acq.cluster"),
    (structure_module, "includes", _system_is_the_device, "SB+sc.sys+sc.sys-gpus"),
]


@pytest.mark.parametrize(
    ("where", "what", "wrong", "name"), _ERRORS, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_planted_error_is_caught(monkeypatch, where, what, wrong, name):
    assert _as_expected(name)
    before = where.__dict__.get(what)
    is_function = callable(before) and not isinstance(before, property)
    monkeypatch.setattr(where, what, wrong if is_function else property(wrong))
    assert not _as_expected(name)
