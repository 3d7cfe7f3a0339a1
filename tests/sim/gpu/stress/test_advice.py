"""Advice: fences that are missing, redundant or too wide."""

from itertools import islice

import pytest

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.sim.gpu.launch.launch_file import read_launch
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.stress.advice import Advisor
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from racetrap.sim.gpu.stress.ordering import executed_pcs
from racetrap.sim.gpu.stress.search import random_runs
from racetrap.sim.gpu.stress.synchronisation import Action, Synchronisation
from tests.support import REPOSITORY
from tests.support.campaign import later_but, one_in

FOLDER = REPOSITORY / "docs" / "examples"


def advice_on(subject):
    advice = Advisor(subject, "views", 24, 12, 1).advise()
    assert advice.cured
    return [tuple(one) for one in advice.changes]


def handover_of(text):
    module = parse_ptx(text, "handover.ptx")
    return KernelSubject(module, read_launch(FOLDER / "handover.toml"))


def test_a_fence_that_is_too_narrow(handover):
    assert advice_on(handover) == [("widen", "handover.cu:7", "fence.acq_rel.gpu")]


#: A kernel without a fence, and one with a lock that needs both of its own; a function with one
#: that both have inlined would be on line 2.
_PLAIN_AND_LOCKED = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry plain(.param .u64 p) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 1 1
  st.global.u32 [%rd3], %r1;
  .loc 1 2 1
  membar.gl;
  setp.lt.u32 %p1, %r1, 5;
  @%p1 bra END;
  .loc 1 3 1
  membar.cta;
END:
  ret;
}
.visible .entry locked(.param .u64 p) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
LOCK:
  .loc 1 10 1
  atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOCK;
  .loc 1 11 1
  membar.gl;
  .loc 1 12 1
  ld.global.u32 %r2, [%rd1+4];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd1+4], %r2;
  INLINED
  .loc 1 13 1
  membar.gl;
  .loc 1 14 1
  atom.global.exch.b32 %r1, [%rd1], 0;
  ret;
}
.file 1 "locks.cu"
"""


def launched(folder, inlined="", kernels=("plain",), text=_PLAIN_AND_LOCKED):
    tables = [
        f'kernel = "{kernel}"\ngrid = 2\nblock = 1\n'
        'arguments = [{ buffer = "zeros", type = "u32", count = 4 }]\n'
        for kernel in kernels
    ]
    file = folder / "launch.toml"
    file.write_text("[[next]]\n".join(tables))
    module = parse_ptx(text.replace("INLINED", inlined), "locks.ptx")
    return KernelSubject(module, read_launch(file))


@pytest.mark.parametrize(
    ("options", "changes", "unexecuted"),
    [
        ({}, {2}, {3, 10, 11, 13}),
        # The same line in a kernel that does not run.
        ({"inlined": ".loc 1 2 1\nmembar.gl;"}, set(), {2, 3, 10, 11, 13}),
        ({"kernels": ("plain", "locked")}, {2, 11}, {3}),
    ],
)
def test_nothing_is_said_of_what_did_not_run(tmp_path, options, changes, unexecuted):
    advice = Advisor(launched(tmp_path, **options), "views", 24, 12, 1).advise()
    assert {line(change) for change in advice.changes} == changes
    assert {line(each) for each in advice.unexecuted} == unexecuted


def test_what_any_run_has_executed_counts(tmp_path):
    """A fence of a block that does not come first where warps are in order."""
    first = "  .loc 1 3 1\n  atom.global.exch.b32 %r2, [%rd1+8], 1;\n  setp.lt.u32 %p1, %r1, 1;"
    second = "  @%p1 bra END;\n  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra END;"
    text = _PLAIN_AND_LOCKED.replace(
        "  setp.lt.u32 %p1, %r1, 5;\n  @%p1 bra END;", f"{first}\n{second}"
    )
    subject = launched(tmp_path, text=text)
    assert 3 not in {line(each) for each in Advisor(subject, "views", 4, 4, 1).advise().unexecuted}
    assert len(executed_pcs(subject.traces)) > len(executed_pcs(subject.traces[:1]))


def test_nothing_is_redundant_where_accesses_race_anyway(tmp_path):
    text = _PLAIN_AND_LOCKED.replace("[%rd3], %r1", "[%rd1], %r1")
    advice = Advisor(launched(tmp_path, text=text), "views", 4, 4, 1).advise()
    assert (advice.changes, advice.races) == ([], True)


def line(each):
    return int(each.place.rpartition(":")[2])


def test_a_fence_added_on_purpose_is_redundant_and_needed_ones_are_not():
    text = (FOLDER / "handover.ptx").read_text().replace("membar.cta", "membar.gl")
    assert advice_on(handover_of(text)) == []
    start = text.index(".loc", text.index("{"))
    line = text[start : text.index("\n", start)].split()
    again = f".loc {line[1]} 3 1\n\tmembar.gl;\n\t"
    found = advice_on(handover_of(text[:start] + again + text[start:]))
    assert found == [("remove", "handover.cu:3", "fence.sc.gpu")]


@pytest.mark.parametrize(
    ("name", "fences"),
    one_in(2, [
        ("no_acquire", [("insert", "dot_product.cu:16", "fence.acq_rel.gpu")]),
        ("no_release", [("insert", "dot_product.cu:17", "fence.acq_rel.gpu")]),
        ("release_block", [("widen", "dot_product.cu:17", "fence.acq_rel.gpu")]),
    ]),
)  # fmt: skip
def test_fences_of_a_lock(variant, name, fences):
    assert advice_on(variant("dot_product", name)) == fences


@pytest.mark.parametrize("name", one_in(2, ["no_fence", "no_acquire"]))
def test_an_acquire_stands_next_to_the_ticket(variant, name):
    """Not before the data, far behind the ticket that releases it."""
    advice = Advisor(variant("reduction", name), "views", 24, 24, 1).advise()
    assert "reduction.cu:23" in {change.place for change in advice.changes}


def test_one_fence_does_what_two_do(variant):
    """A fence before the load that follows each of Dekker's stores, not one behind each."""
    fences = [("insert", "dekker.cu:20", "fence.sc.gpu")]
    assert advice_on(variant("dekker", "no_store_load")) == fences


def test_a_fence_stands_on_as_few_paths_as_do(variant):
    """Before the section, not behind each look at whether the other wants to enter."""
    fences = [("insert", "dekker.cu:48", "fence.acq_rel.gpu")]
    assert advice_on(variant("dekker", "no_acquire")) == fences


@pytest.mark.parametrize("program", ["mcs_lock", "seqlock"])
def test_fences_between_strong_accesses_are_needed(variant, program):
    """Without them nothing races, and few runs fail."""
    assert advice_on(variant(program, "full")) == []


def test_fences_of_a_path_that_few_runs_take_are_needed(variant):
    """Of a lock that is taken only by who has looked for the table in vain."""
    assert advice_on(variant("double_checked", "full")) == []


@pytest.mark.parametrize(
    ("program", "name"),
    later_but(
        lambda each: each in (("dot_product", "no_fence"), ("publication", "full")),
        [
            ("dot_product", "no_fence"), ("dot_product", "release_block"),
            ("reduction", "no_fence"), ("dot_product", "full"), ("publication", "full"),
            ("histogram", "full"),
        ],
    ),
)  # fmt: skip
def test_advice_by_write_buffers_stands_views(variant, program, name):
    """They know neither scopes nor stale loads."""
    subject = variant(program, name)
    advice = Advisor(subject, "write-buffers", 24, 12, 1).advise()
    assert advice.cured
    chosen = dict(map(action, advice.changes))
    changes = Synchronisation(subject.functions).changes(chosen)
    later = islice(random_runs(subject, "views", 100, changes=changes), 40)
    for run in later:
        assert not run.failure
    assert bool(chosen) == (name != "full")


def action(change):
    name = {"widen": "fence", "narrow": "fence", "order": "access", "weaken": "access"}
    _, order, scope = change.what.split(".")
    sync = None if change.action == "remove" else (Order(order), Scope[scope.upper()])
    return Action(name.get(change.action, change.action), change.place), sync
