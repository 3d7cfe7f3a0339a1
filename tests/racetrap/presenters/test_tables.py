"""Tables on a terminal, and their cells in words."""

import pytest

from racetrap.commands.shared.terminal import report_console
from racetrap.presenters.tables import cell_text, is_numeric, print_table


def test_table_prints_brackets_as_they_are(capsys):
    print_table(report_console(), "[title]", ["[a]", "n"], [["[red]x", 1], ["y", 22]])
    output = capsys.readouterr().out
    assert "[title]" in output
    assert "[red]x" in output
    assert "│  1 │" in output


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
    assert [is_numeric(rows, column) for column in range(4)] == [True, False, False, False]
