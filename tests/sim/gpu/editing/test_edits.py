"""Edits of source texts."""

import re

import pytest

from racetrap.sim.gpu.editing.edits import Edit, LineMap, diff, edited, inserted_lines

_SOURCE = b"one\ntwo\nthree\n"


def test_edits_are_made_in_the_order_of_their_places():
    edits = [Edit("a", 8, 13, "3"), Edit("a", 0, 0, "zero\n"), Edit("a", 4, 4, "more ")]
    assert edited(_SOURCE, edits) == b"zero\none\nmore two\n3\n"


def test_edits_at_one_place_are_made_in_the_order_given():
    assert edited(b"x", [Edit("a", 1, 1, "y"), Edit("a", 1, 1, "z")]) == b"xyz"


def test_edits_that_overlap_are_refused():
    with pytest.raises(AssertionError):
        edited(_SOURCE, [Edit("a", 0, 5, ""), Edit("a", 4, 6, "")])


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (Edit("a", 4, 4, "new\n"), {1: 1, 2: 2, 3: 2, 4: 3}),
        (Edit("a", 3, 3, "\nnew"), {1: 1, 2: 1, 3: 2, 4: 3}),
        (Edit("a", 4, 8, ""), {1: 1, 2: 3}),
        (Edit("a", 4, 4, "new "), {1: 1, 2: 2, 3: 3}),
    ],
)
def test_lines_of_the_edited_source_are_known_in_the_original(edit, lines):
    found = LineMap(_SOURCE, [edit])
    assert {line: found.original(line) for line in lines} == lines


def test_inserted_lines_are_those_with_new_text_of_a_form():
    edits = [Edit("a", 4, 4, "new\n"), Edit("a", 13, 13, "\nand\nmore")]
    assert inserted_lines(_SOURCE, edits, re.compile(r"\w")) == {2, 5, 6}
    assert inserted_lines(_SOURCE, edits, re.compile("more")) == {6}
    assert edited(_SOURCE, edits).splitlines()[1::3] == [b"new", b"and"]


def test_diff_has_the_names_given_and_only_files_with_edits():
    text = diff(
        {"/x/a.cu": _SOURCE, "/x/b.cu": b""}, [Edit("/x/a.cu", 0, 3, "1")], {"/x/a.cu": "a.cu"}
    )
    assert text.splitlines()[:5] == ["--- a/a.cu", "+++ b/a.cu", "@@ -1,3 +1,3 @@", "-one", "+1"]
