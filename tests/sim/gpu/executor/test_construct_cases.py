"""The list of pairs is complete and holds to its own rules."""

import re

import pytest

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.launch.kernel_files import kernel_folder, load_kernels
from tests.support.gpu.constructs.cases import (
    CONSTRUCTS,
    GROUPS,
    PACKAGE,
    refusal,
    run_kernel,
)

PAIRS = [pair for pairs in GROUPS.values() for pair in pairs]
KERNELS = [kernel for pair in PAIRS for kernel in (pair.free, pair.racy)]
REFUSED = set(load_kernels(PACKAGE, "refused_sm90").functions)
SOURCES = sorted(path.stem for path in kernel_folder(PACKAGE).glob("*.cu"))


def test_enough_pairs():
    assert len(KERNELS) >= 120
    assert len(KERNELS) == len(set(KERNELS)), "two kernels have one name"


@pytest.mark.parametrize("source", SOURCES)
def test_every_kernel_is_in_the_list(source):
    functions = load_kernels(PACKAGE, source).functions
    kernels = {name for name, function in functions.items() if function.is_kernel}
    listed = {name for pair in PAIRS if pair.source == source for name in (pair.free, pair.racy)}
    assert kernels == (listed or REFUSED)


def test_constructs_are_in_kernels_that_run_or_are_refused():
    for name, kernels in CONSTRUCTS.items():
        assert set(kernels) <= set(KERNELS) or set(kernels) <= REFUSED, name
    assert {kernel for kernels in CONSTRUCTS.values() for kernel in kernels} >= REFUSED


@pytest.mark.parametrize("kernel", sorted(REFUSED))
def test_what_is_not_known_is_refused_by_name(kernel):
    sentence = refusal(kernel)
    place = rf"refused_sm90\.cu:\d+, in {kernel}"
    assert re.fullmatch(rf"Instruction [a-z0-9_:.]+ .*is not supported \({place}\)", sentence), (
        sentence
    )


def test_reasons_are_sentences_of_one_line():
    for pair in PAIRS:
        assert pair.reason.strip() == pair.reason, pair
        assert pair.reason.endswith("."), pair
        assert "\n" not in pair.reason, pair
        assert pair.races, pair


def test_a_run_gives_trace_and_data():
    run = run_kernel(PAIRS[0], PAIRS[0].free, "random", 3)
    assert isinstance(run.trace, Trace)
    assert run.trace.header.source == f"{PAIRS[0].free}, random, seed 3"
    assert run.data[:3] == [42, 42, 0]
    assert len(run.data) == 1024
    assert run.printed == ""


def test_what_is_printed():
    (pair,) = (pair for pair in PAIRS if pair.free == "printed_behind_barrier")
    assert run_kernel(pair, pair.free, "in-order", 1).printed == "32\n"
