"""Front end: equal to the golden one on random issue streams, its rate, and its checker."""

from dataclasses import replace
from functools import partial

import pytest

from racetrap.generators.causality import CAUSALITY
from racetrap.generators.scord import SCORD
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.gpu.issue import Instruction, IssueKind
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.rtl.causality.word_splitter import WordSplitter
from racetrap.rtl.gpu.front_end import FrontEnd
from racetrap.rtl.scord.coalescer import Coalescer
from tests.support.campaign import later_but
from tests.support.gpu.issue_bench import IssueBench, random_instructions
from tests.support.gpu.issue_check import IssueCheck
from tests.support.gpu.issue_volume import build, compare
from tests.support.rtl.ready_paths import valid_to_ready_paths

KIND = IssueKind
_DETECTORS = {
    "scord": (SCORD, Coalescer, coalesce),
    "causality": (CAUSALITY, WordSplitter, split_words),
}
_SMALL = {"lanes": 3, "address_bits": 18, "outstanding_cas": 2}


def _params(detector, **settings):
    system = _DETECTORS[detector][0]
    return replace(system.presets[f"{detector}-tiny"].params, **settings)


def _bench(detector, params, seed=None):
    _, coalescer, golden = _DETECTORS[detector]
    return IssueBench(partial(FrontEnd, coalescer=coalescer), golden, params, seed)


@pytest.mark.parametrize(
    ("detector", "seed"),
    later_but(lambda each: each[1] == 0, [(name, n) for name in _DETECTORS for n in range(3)]),
)
def test_random_instructions(detector, seed):
    params = _params(detector, **_SMALL)
    _bench(detector, params, f"random {seed}").run(random_instructions(params, seed, 70))


#: Configurations of the volume, and how many instructions of each.
_VOLUMES = {
    "scord, 1 lane": ("scord", {"lanes": 1, "outstanding_cas": 1}, 80_000),
    "scord, 3 lanes": ("scord", {"lanes": 3, "address_bits": 20, "outstanding_cas": 2}, 80_000),
    "scord, 4 lanes": ("scord", {"lanes": 4, "blocks_per_sm": 1, "warps_per_sm": 1}, 80_000),
    "scord, 5 lanes": (
        "scord", {"lanes": 5, "blocks_per_sm": 5, "warps_per_sm": 9, "outstanding_cas": 2}, 80_000
    ),
    "scord, 32 lanes": (
        "scord", {"blocks_per_sm": 8, "warps_per_sm": 33, "outstanding_cas": 8}, 180_000
    ),
    "causality, 1 lane": ("causality", {"lanes": 1, "shared_bytes": 0}, 80_000),
    "causality, 3 lanes": (
        "causality", {"lanes": 3, "address_bits": 20, "outstanding_cas": 2}, 80_000
    ),
    "causality, 4 lanes in lockstep": (
        "causality", {"lanes": 4, "independent_threads": False, "warps_per_sm": 8}, 80_000
    ),
    "causality, 5 lanes": (
        "causality", {"lanes": 5, "blocks_per_sm": 5, "warps_per_sm": 9}, 80_000
    ),
    "causality, 32 lanes": (
        "causality", {"blocks_per_sm": 8, "warps_per_sm": 33, "outstanding_cas": 8}, 180_000
    ),
}  # fmt: skip
#: What a volume must have drawn, and seen at the streams.
_BINS = {
    *(kind.name.lower() for kind in KIND if kind != KIND.PARTIAL_BARRIER),
    *(f"size {size}" for size in (1, 2, 4, 8, 16)),
    *(f"order {name}" for name in ("implied", "relaxed", "acquire", "release", "acq_rel")),
    *(f"addresses {shape}" for shape in ("row", "strided", "one", "word", "near", "far")),
    "cas stores", "cas fails", "shared memory", "passes barrier by barrier", "instruction waits",
    "outcome waits", "transaction waits", "all places taken", "outcome overtakes another",
    "reset amid traffic",
}  # fmt: skip
_BINS_OF_SEVERAL = {
    "passes partial barrier by barrier", "passes partial barrier by arrive",
    "passes partial barrier by exit", "passes barrier by exit", "several barriers by an exit",
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("name", _VOLUMES)
def test_volume(name, tmp_path):
    detector, settings, count = _VOLUMES[name]
    params = _params(detector, **settings)
    seed = 1
    print(f"{name}: seed {seed}")
    golden = _DETECTORS[detector][2]
    volume = compare(build(params), params, golden, tmp_path, seed=seed, count=count)
    print(f"{volume.instructions} instructions, {volume.transactions} transactions, "
          f"{volume.cycles} cycles")  # fmt: skip
    print(dict(sorted(volume.bins.items())))
    expected = _BINS | (_BINS_OF_SEVERAL if params.warps_per_sm > 1 else set())
    if params.lanes > 1:
        expected = expected | {"cas stores in some lanes"}
    if params.lanes > 1 and params.independent_threads:
        # Some lanes of a warp arrive, and others wait.
        expected = expected | {"passes barrier by arrive"}
    if params.warps_per_sm == 1 or params.outstanding_cas == 1:
        expected = expected - {"outcome overtakes another", "outcome waits"}
    if params.warps_per_sm == 1 or params.outstanding_cas > 2:
        expected = expected - {"all places taken"}
    assert {each for each in expected if not volume.bins[each]} == set()


def test_the_volumes_are_a_million_instructions():
    assert sum(count for *_, count in _VOLUMES.values()) == 1_000_000


def test_a_fence_takes_two_cycles_and_words_of_single_lanes_one_each():
    params = _params("causality", **_SMALL | {"lanes": 5})
    fence = Instruction(KIND.FENCE)
    store = Instruction(KIND.STORE, size=2, lanes=31, addresses=(0, 4, 8, 12, 16))
    start = Instruction(KIND.BLOCK_START, warps=1, lanes=31)
    bench = _bench("causality", params)
    bench.run([start, fence, store])
    taken, left = ([cycle for cycle, _ in each] for each in (bench.taken, bench.got))
    assert left[:2] == [taken[0] + 2, taken[1] + 2]
    assert left[2:] == [taken[2] + 4 + word for word in range(5)]


def test_lines_of_single_lanes_leave_each_cycle_and_of_several_every_other():
    params = _params("scord", **_SMALL | {"lanes": 5})
    apart = Instruction(KIND.LOAD, size=2, lanes=31, addresses=(512, 256, 0, 128, 384))
    pairs = Instruction(KIND.LOAD, size=2, lanes=15, addresses=(0, 4, 256, 260))
    for access, cycles in ((apart, [0, 1, 2, 3, 4]), (pairs, [0, 2])):
        bench = _bench("scord", params)
        bench.run([access])
        assert [cycle - bench.taken[0][0] - 5 for cycle, _ in bench.got] == cycles


@pytest.mark.campaign
@pytest.mark.parametrize("detector", _DETECTORS)
def test_no_ready_depends_on_a_valid(detector):
    params = _params(detector, **_SMALL | {"lanes": 5})
    assert not valid_to_ready_paths(FrontEnd(params, _DETECTORS[detector][1]))


# The checker must fail -----------------------------------------------------------------------


def _issued():
    """A CAS and what its warp and block do around it, and a barrier of two warps."""
    access = {"size": 2, "lanes": 1, "strong": 1}
    return [
        Instruction(KIND.BLOCK_START, warps=3, lanes=7),
        Instruction(KIND.ATOMIC, pc=1, op=AtomicOp.CAS, **access, addresses=(0,)),
        Instruction(KIND.STORE, warp=1, pc=2, **access, addresses=(4,)),
        Instruction(KIND.STORE, pc=3, **access, addresses=(8,)),
        Instruction(KIND.BARRIER, warp=1, pc=4, lanes=7),
        Instruction(KIND.BARRIER, pc=5, lanes=7),
        Instruction(KIND.ATOMIC, pc=6, op=AtomicOp.CAS, **access, addresses=(0,)),
        Instruction(KIND.BLOCK_END),
    ]


_ORDERS = {
    "as issued": ([0, 1, 2, 3, 5, 6, 7], True),
    "another warp before the CAS": ([0, 2, 1, 3, 5, 6, 7], True),
    "its own warp before the CAS": ([0, 2, 3, 1, 5, 6, 7], False),
    "barrier before a store": ([0, 1, 2, 5, 3, 6, 7], False),
    "end of the block before a CAS": ([0, 1, 2, 3, 5, 7, 6], False),
    "one lost": ([0, 1, 3, 5, 6, 7], False),
    "last lost": ([0, 1, 2, 3, 5, 6], False),
    "one doubled": ([0, 1, 2, 2, 3, 5, 6, 7], False),
}


@pytest.mark.parametrize("name", _ORDERS)
def test_checker_of_order(name):
    order, is_right = _ORDERS[name]
    params = _params("causality", lanes=3)
    check = IssueCheck(params, split_words, _issued())
    got = [word for number in order for word in check.expected[number]]
    if is_right:
        assert check.compare(got, [1, 6]) == len(got)
    else:
        with pytest.raises(AssertionError):
            check.compare(got, [1, 6])


def test_checker_of_each_bit():
    params = _params("causality", lanes=3)
    check = IssueCheck(params, split_words, _issued())
    right = [word for each in check.expected for word in each]
    for bit in range(params.transaction_layout.width):
        got = [*right]
        got[2] ^= 1 << bit
        with pytest.raises(AssertionError):
            check.compare(got, [1, 6])
