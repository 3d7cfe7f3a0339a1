"""The oracle is right on every kernel of the suite of constructs."""

from collections import Counter

import pytest

from docs.site.construct_suite import detector_sentence
from racetrap.verdict.gpu.oracle import ELSEWHERE, NOT_CHECKED
from racetrap.verdict.gpu.trace_check import TraceCheck
from racetrap.verdict.scord.missed import Cause
from tests.support import REPOSITORY
from tests.support.gpu.construct_verdicts import (
    Verdict,
    is_right,
    verdicts,
)
from tests.support.gpu.constructs.cases import GROUPS, run_kernel

PAIRS = [pair for pairs in GROUPS.values() for pair in pairs]
#: Those of one warp that do not wait for each other, which lanes in lockstep cannot.
WARP_PAIRS = [
    pair for pair in PAIRS
    if pair.races == {"divergence"} and pair.independent and not pair.free.startswith("lane_")
]  # fmt: skip

pytestmark = pytest.mark.xdist_group("constructs")


@pytest.fixture(scope="module")
def found():
    return verdicts()


def test_the_oracle_is_right_on_all(found):
    assert [pair.free for pair in PAIRS if not is_right(pair, found)] == []


def test_the_readme_has_the_counts_of_this_run(found):
    racy = Counter(found[pair.racy].detector for pair in PAIRS)
    free = Counter(found[pair.free].detector for pair in PAIRS)
    reported = len(PAIRS) - free["silent"]
    assert (
        f"{racy['reported']} of {len(PAIRS)} racy ones, {racy['out of scope']} are out of scope, "
        f"and {reported} of {len(PAIRS)} race-free ones, "
    ) in (REPOSITORY / "README.md").read_text(encoding="utf-8")
    sentence = detector_sentence(found)
    assert f" ScoRD reports {reported}: {free['imposed by the method']} by " in sentence
    assert f" it reports {racy['reported']}, " in sentence


@pytest.mark.parametrize("pair", WARP_PAIRS, ids=lambda pair: pair.racy)
def test_in_lockstep_pairs_of_lanes_are_listed(pair):
    for kernel, is_racy in ((pair.free, False), (pair.racy, True)):
        check = TraceCheck()
        lockstep = pair.model_copy(update={"independent": False})
        check.add(run_kernel(lockstep, kernel, "in-order", 1).trace)
        assert bool(check.pairs or check.lockstep) == is_racy


def test_a_wrong_verdict_or_result_is_not_right(found):
    pair = PAIRS[0]
    for kernel, wrong in (
        (pair.racy, Verdict()),
        (pair.racy, Verdict({"divergence"})),
        (pair.free, Verdict(set(pair.races), {pair.result})),
        (pair.free, Verdict(set(), {pair.result, (1, 2)})),
    ):
        assert not is_right(pair, {**found, kernel: wrong})


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (Verdict(), "silent"),
        (Verdict(imposed={"not-strong"}), "imposed by the method: not-strong"),
        (Verdict(imposed={"not-strong"}, false={"missing-lock"}), "false: missing-lock"),
        (Verdict({"intra-block"}, outcomes={Cause.REPORTED, Cause.NO_RULE}), "reported"),
        (Verdict({"intra-block"}, outcomes={ELSEWHERE}), "reported"),
        (Verdict({"divergence"}, outcomes={NOT_CHECKED["warp"]}), "out of scope: inside a warp"),
        (
            Verdict({"divergence"}, outcomes={NOT_CHECKED["warp"], Cause.NO_RULE}),
            "missed: inside a warp, no rule of the method",
        ),
    ],
)
def test_explanations(verdict, line):
    assert verdict.explanation() == line
    assert verdict.has_report == line.startswith(("reported", "imposed", "false"))
