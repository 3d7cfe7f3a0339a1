"""Changes of sources that plant bugs: one place only, and however the source is formatted."""

import ast

import pytest

from racetrap.sim.cosim.verilator.patch import Patch


@pytest.mark.parametrize(
    "source",
    [
        "total = f(a | b, 'c', 16)\n",
        'total = f(\n    a | b,  # first\n    "c",\n    0x10,\n)\n',
        "total = (\n    f((a | b), 'c', 16,)\n)\n",
    ],
    ids=["one line", "many lines", "parentheses"],
)
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a | b", "a", "total = f(a, 'c', 16)"),
        ("(a | b)", "(a & b)", "total = f(a & b, 'c', 16)"),
        ('b, "c", 0x10)', "b)", "total = f(a | b)"),
        ("    total = f(\n", "    total = g(\n", "total = g(a | b, 'c', 16)"),
    ],
)
def test_words_are_compared(source, before, after, expected):
    changed = Patch("x.py", before, after).changed(source)
    assert ast.unparse(ast.parse(changed)) == expected


def test_part_of_a_tuple():
    changed = Patch("x.py", '"a", *rest', '"new", *rest').changed('names = ("a", *rest, "b")\n')
    assert ast.unparse(ast.parse(changed)) == "names = ('new', *rest, 'b')"


def test_another_language_keeps_its_comments(tmp_path):
    (tmp_path / "x.h").write_text("if (a)  // so\n    b(1u <<\n      c);\n")
    Patch("x.h", "1u << c", "c").apply(tmp_path)
    assert (tmp_path / "x.h").read_text() == "if (a)  // so\n    b(c);\n"


@pytest.mark.parametrize(
    ("source", "count"), [("abc = 1", 0), ("bc = a", 0), ("a = b\nc = a\na = (b)", 2)]
)
def test_patch_must_match_exactly_once(source, count):
    with pytest.raises(ValueError, match=f"x.py must occur once, not {count} times"):
        Patch("x.py", "a = b", "").changed(source)
