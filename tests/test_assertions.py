"""Assertions of tests: a failure names the first item that differs, and both values."""

import ast

import pytest

from tests.support import REPOSITORY


def _hides_the_item(node: ast.AST) -> bool:
    """Whether a failure says no more than ``assert False``, or shows a whole list."""
    if not isinstance(node, ast.Assert) or node.msg is not None:
        return False
    test, is_denied = node.test, False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, is_denied = test.operand, True
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        return test.func.id in ("any", "all")
    if isinstance(test, ast.BoolOp):
        return any(_hides_the_item(ast.Assert(part)) for part in test.values)
    return is_denied and isinstance(test, ast.List | ast.ListComp)


def test_failures_name_the_item():
    found = [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}: write a loop or a message"
        for path in sorted((REPOSITORY / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if _hides_the_item(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "hides"),
    [
        ("assert all(a == b for a, b in pairs)", True),
        ("assert not any(map(differs, seeds))", True),
        ("assert not [a for a in names if a]", True),
        ("assert not [*folder.glob('*')]", True),
        ("assert x or all(names)", True),
        ("assert any(map(differs, seeds)), seeds", False),
        ("assert [a for a in names if a] == []", False),
        ("assert a == b", False),
    ],
)
def test_what_hides_the_item(text, hides):
    assert _hides_the_item(ast.parse(text).body[0]) is hides
