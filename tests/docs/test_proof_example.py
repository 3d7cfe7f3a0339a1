"""The proof on the page about proofs holds, and fails for a rule that does not."""

import re

import pytest

from tests.support import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "how-to" / "write-a-proof.md").read_text(encoding="utf-8")
_EXAMPLE = re.search(r"```python\n(.*?)```", _PAGE, re.DOTALL)[1]


def test_the_example_holds():
    exec(compile(_EXAMPLE, "write-a-proof.md", "exec"), {"__name__": "example"})


def test_a_wrong_rule_fails():
    wrong = _EXAMPLE.replace("(dut.o.payload == word)", "(dut.o.payload != word)")
    assert wrong != _EXAMPLE
    with pytest.raises(AssertionError):
        exec(compile(wrong, "write-a-proof.md", "exec"), {"__name__": "example"})
