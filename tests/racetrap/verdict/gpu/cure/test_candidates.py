"""Changes that are tried against a race."""

import pytest

from racetrap.golden_model.barracuda.race import RaceClass
from racetrap.sim.gpu.editing.edits import edited
from racetrap.sim.gpu.editing.source_unit import SourceUnit
from racetrap.verdict.gpu.cure.candidates import strategies

_LOOP = b"""__global__ void k(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  for (int d = 1; d < 64; d *= 2) {
    int left = s[threadIdx.x - d];
    if (left)
      s[threadIdx.x] += left;
  }
}
"""
_FLAG = b"""__global__ void k(int *a, int *flag) {
  if (blockIdx.x == 0) {
    a[0] = 1;
    atomicExch_block(flag, 1);
    __threadfence_block();
  } else {
    asm volatile("ld.relaxed.cta.u32 %0, [%1];" : "=r"(a[2]) : "l"(flag));
    a[1] = flag.load(cuda::memory_order_relaxed) + a[0];
  }
}
"""


def changed(source, lines, relation, name):
    """Sources that a strategy makes."""
    unit = SourceUnit("k.cu", source, lines[0])
    assert [line for line in lines if not unit.add(line)] == []
    found = strategies([unit], [SourceUnit("k.cu", source)], RaceClass(relation))
    return [
        edited(source, change).decode()
        for strategy in found if strategy.name == name
        for change in strategy.changes
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("relation", "of", "call"),
    [
        ("divergence", "warp", "__syncwarp();"),
        ("divergence", "block", "__syncthreads();"),
        ("intra-block", "block", "__syncthreads();"),
    ],
)
def test_barrier_goes_between_the_accesses_and_to_the_ends_of_loops_but_into_no_branch(
    relation, of, call
):
    texts = changed(_LOOP, [5, 7], relation, f"a barrier of the {of}")
    lines = [
        next(number for number, line in enumerate(text.splitlines(), 1) if call in line)
        for text in texts
    ]
    assert lines == [6, 6, 8, 5, 4, 9]
    assert [text for text in texts if f"{{ {call}" in text] == []


def test_threads_of_different_blocks_get_no_barrier():
    assert changed(_FLAG, [3, 8], "inter-block", "a barrier of the block") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("atomicExch_block", "atomicExch"), ("__threadfence_block", "__threadfence"),
        ("relaxed.cta", "relaxed.gpu"),
    ],
)  # fmt: skip
def test_scope_is_widened_one_at_a_time(old, new):
    texts = changed(_FLAG, [3, 8], "inter-block", "a wider scope")
    assert _FLAG.decode().replace(old, new) in texts
    assert len(texts) == 3


@pytest.mark.parametrize("order", ["release", "acquire", "acq_rel"])
def test_orders_of_instructions_and_of_the_library_are_changed(order):
    texts = changed(_FLAG, [3, 8], "inter-block", "an order of memory")
    for old in ("ld.relaxed", "memory_order_relaxed"):
        assert _FLAG.decode().replace(old, old.replace("relaxed", order)) in texts


def test_fence_goes_to_every_place_and_moves_before_the_signal():
    fences = changed(_FLAG, [3, 8], "inter-block", "a fence")
    assert {text.count("__threadfence();") for text in fences} == {1}
    assert len(set(fences)) == len(fences)
    moved = changed(_FLAG, [3, 8], "inter-block", "another place for what synchronises")
    in_order = "__threadfence_block();\n    atomicExch_block(flag, 1);"
    assert [text for text in moved if in_order in text] != []


def test_use_of_a_macro_moves_as_it_may_synchronise():
    source = _FLAG.replace(b"    __threadfence_block();\n", b"    FREE;\n")
    moved = changed(source, [3, 8], "inter-block", "another place for what synchronises")
    assert [text for text in moved if "FREE;\n    atomicExch_block" in text] != []


def test_weak_access_of_ptx_becomes_strong_together_with_one_of_the_language():
    source = _FLAG.replace(b"ld.relaxed.cta", b"ld.weak")
    texts = changed(source, [3, 7], "inter-block", "an atomic")
    assert source.decode().replace("ld.weak", "ld.relaxed.gpu") in texts
    assert source.decode().replace("a[0] = 1", "atomicExch(&a[0], 1)") in texts


def test_loop_is_not_moved_for_the_barrier_in_it():
    source = _LOOP.replace(b"    if (left)", b"    __syncthreads();\n    if (left)")
    moved = changed(source, [6, 8], "intra-block", "another place for what synchronises")
    assert len(moved) == 2
    assert [text for text in moved if not text.startswith(source[:100].decode())] == []


def test_scope_is_widened_where_a_type_is_declared():
    source = b"using Flag = cuda::atomic_ref<int, cuda::thread_scope_block>;\n" + _FLAG
    texts = changed(source, [4], "inter-block", "a wider scope of a type")
    assert source.decode().replace("thread_scope_block", "thread_scope_device") in texts


def test_what_may_fail_waits_instead():
    source = _FLAG.replace(b"atomicExch_block(flag, 1)", b"lock.try_acquire()")
    (text,) = changed(source, [3], "inter-block", "waiting")
    assert text == source.decode().replace("try_acquire", "acquire")


def test_access_of_ptx_takes_the_size_of_another():
    source = _FLAG.replace(b"a[0] = 1;", b'asm("st.weak.u64 [%0], %1;" ::"l"(a), "l"(1ll));')
    texts = changed(source, [3, 7], "inter-block", "one size")
    assert [("st.weak.u64" in text, "ld.relaxed.cta.u64" in text) for text in texts] == [
        (True, True), (False, False),
    ]  # fmt: skip
