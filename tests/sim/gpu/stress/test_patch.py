"""Advice as a patch."""

import subprocess

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
    patch = make_patch([AdvisedChange(*each) for each in changes], folder, folder)
    body = [line for line in patch.text.splitlines() if line[:3] not in ("---", "+++")]
    return [line for line in body if line[0] in "+-"], [one.action for one in patch.left_out]


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (("insert", "give.cu:6", "fence.acq_rel.gpu"), ["+  __threadfence();"]),
        (("insert", "give.cu:2", "fence.acq_rel.cta"), ["+  __threadfence_block();"]),
        (
            ("insert", "give.cu:5", "fence.acq_rel.gpu"),
            ["-    look(free);", "+    { __threadfence(); look(free); }"],
        ),
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


_TOOLS = {"patch": ("patch", "-p1", "-i"), "git": ("git", "apply")}
_CHANGES = (
    ("insert", 2, "fence.acq_rel.gpu"), ("widen", 3, "fence.acq_rel.gpu"),
    ("remove", 8, "fence.sc.gpu"),
)  # fmt: skip
_CURED = (
    _SOURCE
    .replace("  *data", "  __threadfence();\n  *data")
    .replace("_block", "")
    .replace("  __threadfence();  // of no use\n", "")
)  # fmt: skip


@pytest.mark.parametrize("tool", _TOOLS)
@pytest.mark.parametrize("root", ["", "inner", "elsewhere"])
@pytest.mark.parametrize("place", ["{name}", "./{name}", "{folder}/{name}", "{folder}//{name}"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("give.cu", lambda text: text),
        ("give it.cu", lambda text: text),
        ("give.cu", lambda text: text.rstrip("\n")),
        ("give.cu", lambda text: text.replace("\n", "\r\n")),
        ("give.cu", lambda text: text.replace("too narrow", "zu schmal f\u00fcr\x0cuns")),
    ],
    ids=["plain", "space", "no end", "carriage returns", "Latin-1"],
)
def test_tools_take_a_patch_where_it_says(tmp_path, tool, root, place, name, change):
    """However places name the source, whatever it is, and wherever the command was run."""
    folder = tmp_path / "inner"
    folder.mkdir()
    file = folder / name
    file.write_bytes(change(_SOURCE).encode("latin-1"))
    own = place.format(name=name, folder=folder)
    changes = [AdvisedChange(action, f"{own}:{line}", what) for action, line, what in _CHANGES]
    patch = make_patch(changes, folder, tmp_path / root)
    assert patch.left_out == []
    assert patch.folder == (tmp_path if not root else folder)
    diff = tmp_path / "fence.diff"
    diff.write_text(patch.text, encoding="utf-8", errors="surrogateescape")
    done = subprocess.run(
        [*_TOOLS[tool], diff], cwd=patch.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert file.read_bytes() == change(_CURED).encode("latin-1")


def test_a_patch_of_two_folders_is_for_the_one_they_share(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "give.cu").write_text(_SOURCE)
    changes = [
        AdvisedChange("remove", f"{tmp_path}/{name}/give.cu:8", "fence.sc.gpu")
        for name in ("one", "two")
    ]
    patch = make_patch(changes, tmp_path / "one", tmp_path / "one")
    assert patch.folder == tmp_path
    assert [line for line in patch.text.splitlines() if line.startswith("---")] == [
        "--- a/one/give.cu", "--- a/two/give.cu",
    ]  # fmt: skip
