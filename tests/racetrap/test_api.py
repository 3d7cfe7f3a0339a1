"""Public Python interface: listed, typed, documented; its page has all of it."""

import contextlib
import inspect
import io
import re

import pytest

from docs.site.python_api import TOPICS, api_reference
from racetrap import api
from tests.support import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "python-api.md").read_text(encoding="utf-8")


def _functions(value):
    """A function, or the public ones of a class."""
    if not inspect.isclass(value):
        yield value
        return
    for name, member in vars(value).items():
        if name.startswith("_") or name.startswith("model_"):
            continue
        if isinstance(member, property):
            yield member.fget
        elif isinstance(member, (classmethod, staticmethod)):
            yield member.__func__
        elif inspect.isfunction(member):
            yield member


def _faults(value):
    """What a public name lacks."""
    own = [value] if inspect.isclass(value) else []
    faults = [f"{each.__name__} has no docstring" for each in own if not each.__doc__]
    for function in _functions(value):
        if not function.__doc__:
            faults.append(f"{function.__qualname__} has no docstring")
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in ("self", "cls") and parameter.annotation is parameter.empty:
                faults.append(f"{function.__qualname__}: {name} has no type")
        if inspect.signature(function).return_annotation is inspect.Signature.empty:
            faults.append(f"{function.__qualname__} has no return type")
    return faults


@pytest.mark.parametrize("name", [each for each in api.__all__ if each != "PRESETS"])
def test_a_public_name_is_documented_and_typed(name):
    assert _faults(getattr(api, name)) == []


def test_what_lacks_is_seen():
    class Bad:
        def run(self, trace):
            return trace

    assert _faults(Bad) == [
        "Bad has no docstring",
        f"{Bad.run.__qualname__} has no docstring",
        f"{Bad.run.__qualname__}: trace has no type",
        f"{Bad.run.__qualname__} has no return type",
    ]


def test_every_public_name_is_on_the_page():
    listed = [name for names in TOPICS.values() for name in names]
    assert sorted(listed) == sorted(api.__all__)
    assert set(re.findall(r":: racetrap\.api\.(\w+)", api_reference())) == set(api.__all__)


@pytest.mark.parametrize(
    ("code", "output"), re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", _PAGE, re.DOTALL)
)
def test_an_example_prints_what_the_page_says(code, output, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "python-api.md", "exec"), {})
    assert printed.getvalue() == output
