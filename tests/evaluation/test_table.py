"""Tables: cells as text, and columns of numbers."""

import pytest

from racetrap.evaluation.table import Table, cell_text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"), ("bank", "bank"), (0, "0"), (12345, "12,345"), (1151.3, "1,151"),
        (999.96, "1000"), (21.034, "21.03"), (0.99951, "0.9995"), (0.000123, "0.000123"),
        (3.0, "3"),
    ],
)  # fmt: skip
def test_cells(cell, text):
    assert cell_text(cell) == text


def test_columns_of_numbers():
    rows = ((1, "a", None, 2), (2.5, "b", None, None), (None, 3, None, "x"))
    table = Table("name", "title", "", ("one", "two", "three", "four"), rows)
    assert [table.is_numeric(column) for column in range(4)] == [True, False, False, False]
    assert table.to_json()[1] == {"one": 2.5, "two": "b", "three": None, "four": None}
