"""Advice as a patch."""

import pytest

from racetrap.sim.gpu.stress.advice import AdvisedChange
from racetrap.sim.gpu.stress.patch import make_patch

_SOURCE = """void give() {
  *data = 1;
  __threadfence_block();  // too narrow
  while (!free)
    look(free);
  *flag = 1;
  __threadfence(); *end = 1;
  __threadfence();  // of no use
}
"""


@pytest.fixture
def source(tmp_path):
    (tmp_path / "give.cu").write_text(_SOURCE)
    return tmp_path


def changed(folder, *changes):
    """Lines that a patch takes away and adds, and what is not in it."""
    patch = make_patch([AdvisedChange(*each) for each in changes], folder)
    body = [line for line in patch.text.splitlines() if line[:3] not in ("---", "+++")]
    return [line for line in body if line[0] in "+-"], [one.action for one in patch.left_out]


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (("insert", "give.cu:6", "fence.acq_rel.gpu"), ["+  __threadfence();"]),
        (("insert", "give.cu:2", "fence.acq_rel.cta"), ["+  __threadfence_block();"]),
        (
            ("widen", "give.cu:3", "fence.acq_rel.gpu"),
            ["-  __threadfence_block();  // too narrow", "+  __threadfence();  // too narrow"],
        ),
        (
            ("narrow", "give.cu:7", "fence.acq_rel.cta"),
            ["-  __threadfence(); *end = 1;", "+  __threadfence_block(); *end = 1;"],
        ),
        (
            ("remove", "give.cu:7", "fence.sc.gpu"),
            ["-  __threadfence(); *end = 1;", "+  *end = 1;"],
        ),
        (("remove", "give.cu:8", "fence.sc.gpu"), ["-  __threadfence();  // of no use"]),
    ],
)
def test_a_change_of_a_line(source, change, lines):
    assert changed(source, change) == (lines, [])


def test_numbers_of_lines_stay_those_of_the_source(source):
    lines, left_out = changed(
        source,
        ("insert", "give.cu:2", "fence.acq_rel.gpu"), ("insert", "give.cu:6", "fence.acq_rel.gpu"),
        ("remove", "give.cu:8", "fence.sc.gpu"),
    )  # fmt: skip
    assert lines == [
        "+  __threadfence();", "+  __threadfence();", "-  __threadfence();  // of no use",
    ]  # fmt: skip
    assert left_out == []


@pytest.mark.parametrize(
    "change",
    [
        ("insert", "give.cu:5", "fence.acq_rel.gpu"),  # the body of a loop without braces
        ("insert", "give.cu:99", "fence.acq_rel.gpu"),
        ("insert", "other.cu:5", "fence.acq_rel.gpu"),
        ("insert", "line 12", "fence.acq_rel.gpu"),
        ("widen", "give.cu:7", "fence.acq_rel.gpu"),  # it is as wide already
        ("remove", "give.cu:2", "fence.sc.gpu"),
        ("order", "give.cu:6", "st.release.gpu"),
    ],
)
def test_what_is_not_plain_is_left_out(source, change):
    assert changed(source, change) == ([], [change[0]])
