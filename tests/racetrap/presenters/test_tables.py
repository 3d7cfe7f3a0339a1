"""Tables on a terminal."""

from racetrap.commands.shared.terminal import report_console
from racetrap.presenters.tables import print_table


def test_table_prints_brackets_as_they_are(capsys):
    print_table(report_console(), "[title]", ["[a]", "n"], [["[red]x", 1], ["y", 22]])
    output = capsys.readouterr().out
    assert "[title]" in output
    assert "[red]x" in output
    assert "│  1 │" in output
