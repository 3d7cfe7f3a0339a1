"""Sources in colour: kinds of words, comments over several lines, and what has no language."""

import pytest

from racetrap.presenters.coloured_source import coloured_excerpt

_KERNEL = """\
#include <cuda.h>
/* A comment
   over for lines
*/
__global__ void kernel(int *a) { a[0] = 12; }  // "done"
"""


@pytest.fixture
def words(tmp_path):
    def of(name, line, text=_KERNEL):
        (tmp_path / name).write_bytes(text.encode())
        return [
            [(word.text, word.style) for word in words if word.text.strip()]
            for _, words in coloured_excerpt(f"{tmp_path}/{name}:{line}", 0)
        ]

    return of


def test_words_of_a_kernel(words):
    (line,) = words("a.cu", 5)
    assert ("__global__", "keyword") in line
    assert ("12", "number") in line
    assert ('// "done"', "comment") in line
    assert words("a.cu", 1)[0][0][1] == "directive"


def test_a_comment_that_begins_ahead_of_what_is_shown(words):
    assert words("a.cu", 3) == [[("   over for lines", "comment")]]


def test_colours_leave_text_and_lines_as_they_are(tmp_path):
    """Whatever else ends a line elsewhere, and in a string that is not closed."""
    odd = "int a;\r\nint b;\x0c // \x85 \r c\n\n'unclosed\nint d;"
    (tmp_path / "a.cu").write_bytes(odd.encode())
    shown = coloured_excerpt(f"{tmp_path}/a.cu:2", 9)
    assert len(shown) >= 5
    for line, words in shown:
        assert "".join(word.text for word in words) == line.text


def test_a_file_of_no_known_language_is_plain(words):
    assert words("a.unknown", 1, "int a;") == [[("int a;", "")]]
