"""Documents with arrays that lie on disk: the same data as without."""

import io
import json

import pytest

from racetrap.presenters.json_array import JsonArray, write_document


def _written(data):
    target = io.StringIO()
    write_document(target, data)
    return target.getvalue()


@pytest.mark.parametrize("data", [{}, [], [1, {"a": 2}], {"a": {"b": [1, 2]}, "c": "x\ny"}])
def test_plain_data(data):
    assert _written(data) == json.dumps(data, indent=2) + "\n"


@pytest.mark.parametrize("elements", [[], [1], [{"a": "\x1b"}, [2, 3], None]])
def test_array(elements):
    array = JsonArray()
    for element in elements:
        array.append(element)
    text = _written({"before": 1, "array": array, "after": [2]})
    assert json.loads(text) == {"before": 1, "array": elements, "after": [2]}
    assert _written({"array": array}) == _written({"array": array})
