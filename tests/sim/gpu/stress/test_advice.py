"""Advice: fences that are missing, redundant or too wide."""

import pytest

from racetrap.sim.gpu.launch.launch_file import read_launch
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.stress.advice import Advisor
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from tests.support import REPOSITORY

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
    [
        ("no_acquire", [("insert", "dot_product.cu:16", "fence.acq_rel.gpu")]),
        ("no_release", [("insert", "dot_product.cu:17", "fence.acq_rel.gpu")]),
        ("release_block", [("widen", "dot_product.cu:17", "fence.acq_rel.gpu")]),
    ],
)
def test_fences_of_a_lock(variant, name, fences):
    assert advice_on(variant("dot_product", name)) == fences


@pytest.mark.parametrize("name", ["no_acquire", "no_fence"])
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


def test_fences_of_a_path_that_few_runs_take_are_needed(variant):
    """Of a lock that is taken only by who has looked for the table in vain."""
    assert advice_on(variant("double_checked", "full")) == []
