"""Suppressions: one pattern for any place, two for a place each."""

import pytest

from racetrap.verdict.threads.suppressions import Suppressions, read_suppressions


@pytest.mark.parametrize(
    ("pattern", "places", "matches"),
    [
        (("a.c:1",), ("a.c:1", "b.c:2"), True),
        (("a.c:1",), ("b.c:2", "a.c:1"), True),
        (("a.c:1",), ("a.c:12", "a.c:11"), False),
        (("a.c:*",), ("b.c:2", "a.c:12"), True),
        (("a.c:1", "b.c:*"), ("b.c:7", "a.c:1"), True),
        (("a.c:1", "b.c:*"), ("a.c:1", "a.c:1"), False),
        (("a.c:1", "a.c:*"), ("a.c:1", "a.c:1"), True),
    ],
)
def test_patterns(pattern, places, matches):
    suppressions = Suppressions([pattern])
    assert suppressions.match(places) == matches
    assert suppressions.unused == ([] if matches else [" ".join(pattern)])


def test_file(tmp_path):
    file = tmp_path / "known"
    file.write_text("# known\n\n a.c:1   b.c:*  # both\nc*\n")
    assert read_suppressions(file).unused == ["a.c:1 b.c:*", "c*"]
