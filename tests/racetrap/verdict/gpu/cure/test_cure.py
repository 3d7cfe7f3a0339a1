"""Cures of races, found by trying edits."""

import subprocess

import pytest

from racetrap.golden_model.barracuda.race import Missing
from racetrap.sim.gpu.editing.edits import diff
from racetrap.sim.gpu.launch.nvrtc import has_nvrtc
from racetrap.verdict.cause import Cause, Instruction
from racetrap.verdict.gpu.cure.cure import CureSearch
from racetrap.verdict.gpu.cure.cures import FindingCures
from racetrap.verdict.gpu.cure.edit_trials import CHECKED
from racetrap.verdict.gpu.cure.trials import OutOfTime
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.gpu.cure_sources import launch_of, sources_of

pytestmark = pytest.mark.skipif(not has_nvrtc(), reason="needs the compiler of the extra cuda")

_REVERSAL = """extern "C" __global__ void k(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[63 - threadIdx.x];
}
"""
_ONE_SIDE = """extern "C" __global__ void k(int *a) {
  if (threadIdx.x < 32)
    a[threadIdx.x] = 1;
  else
    a[threadIdx.x - 32] = 2;
}
"""
_FLAG = """extern "C" __global__ void k(int *a, int *flag) {
  if (blockIdx.x == 0) {
    a[0] = 42;
    atomicExch(flag, 1);
    __threadfence();
  } else {
    while (atomicAdd(flag, 0) == 0);
    __threadfence();
    a[1] = a[0];
  }
}
"""
_SUM = """#include "add.cuh"
extern "C" __global__ void k(int *a) { add(a, threadIdx.x); }
"""
_ADD = """__device__ inline void add(int *to, int what) {
  *to += what;
}
"""


def sources_with(text, grid, block, **headers):
    texts = {"k.cu": text, **{f"{name}.cuh": each for name, each in headers.items()}}
    words = {"a": 256, "flag": 4} if "flag" in text else {"a": 256}
    return sources_of(
        "k.cu", {name: each.encode() for name, each in texts.items()},
        launch_of("k", grid, block, **words),
    )  # fmt: skip


def search(text, grid, block, **headers):
    return CureSearch(sources_with(text, grid, block, **headers))


def found_in(sources, seconds=float("inf")):
    check = TraceCheck()
    with sources.compiled(()) as program:
        check.add(program.run(0).trace)
    return FindingCures(check, sources, seconds)


def places(*lines):
    return [frozenset(f"k.cu:{line}" for line in lines)]


def test_missing_barrier_is_inserted_between_the_accesses():
    cure = search(_REVERSAL, 1, 64).cure(places(3, 4))
    assert cure.words == ["insert `__syncthreads();` before k.cu:4"]


def test_lanes_of_one_warp_get_a_barrier_of_the_warp():
    cure = search(_REVERSAL.replace("63 -", "31 -"), 1, 32).cure(places(3, 4))
    assert cure.words == ["insert `__syncwarp();` before k.cu:4"]


def test_no_barrier_goes_where_threads_of_the_block_part():
    cure = search(_ONE_SIDE, 1, 64).cure(places(3, 5))
    assert [words for words in cure.words if "__sync" in words] == []


def test_fence_behind_the_signal_is_moved_before_it():
    cure = search(_FLAG, 2, 1).cure(places(3, 9))
    assert cure.words == ["move `__threadfence();` before k.cu:4"]


def test_narrow_fence_is_widened():
    narrow = _FLAG.replace("    atomicExch(flag, 1);\n", "").replace(
        "__threadfence();\n  } else", "__threadfence_block();\n    atomicExch(flag, 1);\n  } else"
    )
    cure = search(narrow, 2, 1).cure(places(3, 9))
    assert cure.words == ["change `__threadfence_block` to `__threadfence` at k.cu:4"]


def test_both_halves_that_are_missing_are_found_together():
    bare = _FLAG.replace("    __threadfence();\n", "")
    cure = search(bare, 2, 1).cure(places(3, 7))
    assert len(cure.words) == 2
    assert [words for words in cure.words if "insert `__threadfence();`" not in words] == []


def test_update_in_a_header_becomes_an_atomic():
    found = search(_SUM, 1, 64, add=_ADD)
    cure = found.cure(found.races)
    assert cure.words == ["change `*to += what` to `atomicAdd(&*to, what)` at add.cuh:2"]


def test_what_no_edit_cures_is_said_with_what_was_tried():
    two_sizes = _ONE_SIDE.replace("a[threadIdx.x] = 1", "((char *)a)[threadIdx.x] = 1")
    cure = search(two_sizes, 1, 64).cure(places(3, 5))
    assert cure.edits == ()
    assert "an atomic" in cure.reason


def test_race_that_follows_from_another_has_the_cure_of_that():
    """Who reads a place too early writes to the place of another."""
    follows = _REVERSAL.replace("a[threadIdx.x] = s[63", "a[s[63").replace(
        "x];\n}", "x]] = threadIdx.x;\n}"
    )
    found = search(follows, 1, 64)
    assert found.other_cure(places(4)) is None
    first = found.cure(places(3, 4))
    assert first.words == ["insert `__syncthreads();` before k.cu:4"]
    assert found.cure(places(4)) == first


def test_change_that_does_not_compile_is_not_tried_with_others():
    """An atomic of a pointer is none."""
    found = search(
        """extern "C" __global__ void k(int *a) {
  __shared__ int *to, *from, one, other;
  to = a + threadIdx.x, from = to, one = other, other = threadIdx.x / 32;
}
""", 1, 64,
    )  # fmt: skip
    found.cure(found.races)
    assert {len(edits) for edits in found._trials._not_compiled} == {1}


def test_barrier_that_ends_a_race_between_warps_is_the_cure_of_one_inside_a_warp_as_well():
    sources = sources_with(
        """extern "C" __global__ void k(int *a) {
  __shared__ int s[64], t[64];
  s[threadIdx.x] = t[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[threadIdx.x ^ 1];
  a[threadIdx.x] += t[63 - threadIdx.x];
}
""", 1, 64,
    )  # fmt: skip
    found = found_in(sources)
    assert [each.cure.words for each in found.findings] == 2 * [
        ["insert `__syncthreads();` after k.cu:3"]
    ]


@pytest.mark.campaign
def test_two_bugs_that_both_change_the_result_are_cured_together():
    """With the edit of one, results stay wrong by the other."""
    sources = sources_with(
        """extern "C" __global__ void k(int *a) {
  __shared__ int s[64], t[64];
  s[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[63 - threadIdx.x];
  t[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] += t[63 - threadIdx.x];
}
""", 1, 64,
    )  # fmt: skip
    found = found_in(sources)
    assert [each.cure.words for each in found.findings] == [
        ["insert `__syncthreads();` before k.cu:4"],
        ["insert `__syncthreads();` before k.cu:6"],
    ]
    assert len(found.together()) == 2


def test_race_that_does_not_occur_is_not_searched_for():
    cure = search(_REVERSAL, 1, 64).cure(places(1, 2))
    assert (cure.edits, "does not occur" in cure.reason) == ((), True)


def test_no_more_is_tried_when_time_is_up():
    found = search(_REVERSAL, 1, 64)
    found._sources.end = 0.0
    with pytest.raises(OutOfTime):
        found.cure(places(3, 4))


def test_sources_without_edits_run_again_only_if_those_with_edits_show_more(monkeypatch):
    found = search(_REVERSAL, 1, 64)
    ran, outcome = [], found._sources.outcome

    def noted(edits, runs, *others):
        ran.append((bool(edits), runs))
        return outcome(edits, runs, *others)

    monkeypatch.setattr(found._sources, "outcome", noted)
    found.cure(places(3, 4))
    assert (True, CHECKED) in ran
    assert (False, CHECKED) not in ran
    assert found._trials.ends((), frozenset(places(3, 4))) is False
    assert (False, CHECKED) in ran


def test_search_that_time_has_ended_tells_what_it_has_tried_and_what_is_missing():
    (finding,) = found_in(sources_with(_REVERSAL, 1, 64), seconds=0).findings
    begin, _, end = finding.cure.reason.partition(" (0 edited versions tried in 0 s): ")
    assert begin == "no edit had passed when the time of --budget was over"
    assert end == "the barrier of the block is missing"


def test_cause_tells_where_the_fence_goes():
    """The judge names the instruction that releases nothing: few edits are tried."""
    late = _FLAG.replace("    __threadfence();\n  } else", "  } else")
    store = Instruction("atomic", ("k.cu:4",), 0)
    trials = []
    for cause in (None, Cause(Missing.RELEASE, (store,))):
        found = search(late, 2, 1)
        begin = found._sources.trials
        cure = found.cure(places(3, 8), cause)
        assert cure.words == ["insert `__threadfence();` before k.cu:4"]
        trials.append(found._sources.trials - begin)
    assert trials[1] < trials[0]


def test_order_of_two_operations_is_left_to_the_host():
    found = search(_REVERSAL, 1, 64)
    begin = found._sources.trials
    cure = found.cure(places(3, 4), Cause(Missing.STREAM_ORDER))
    assert (cure.edits, found._sources.trials) == ((), begin)
    assert cure.reason.startswith("no edit of a kernel cures it: the host must order the two")


def test_missing_half_is_said_where_no_edit_cures():
    two_sizes = _ONE_SIDE.replace("a[threadIdx.x] = 1", "((char *)a)[threadIdx.x] = 1")
    cure = search(two_sizes, 1, 64).cure(places(3, 5), Cause(Missing.BARRIER))
    assert cure.reason.startswith(
        "no single edit cures it: the barrier of the block is missing (tried: "
    )


def test_edit_that_only_hides_the_race_in_the_runs_that_try_it_is_not_shown(monkeypatch):
    """Fresh runs, and PTX's memory model, have the last word."""
    found = search(_REVERSAL, 1, 64)
    monkeypatch.setattr(found._trials, "cures", lambda changes, races: True)
    cure = found.cure(places(3, 4))
    assert cure.words == ["insert `__syncthreads();` before k.cu:4"]
    monkeypatch.setattr(found._trials, "ends", lambda edits, races: False)
    assert found.cure(places(3, 4)).edits == ()


def test_patch_is_taken_by_git(tmp_path):
    (tmp_path / "k.cu").write_text(_REVERSAL)
    cure = search(_REVERSAL, 1, 64).cure(places(3, 4))
    text = diff({"k.cu": _REVERSAL.encode()}, cure.edits, {"k.cu": "k.cu"})
    subprocess.run(["git", "apply"], input=text, text=True, cwd=tmp_path, check=True)
    assert "  __syncthreads();\n  a[threadIdx.x]" in (tmp_path / "k.cu").read_text()
