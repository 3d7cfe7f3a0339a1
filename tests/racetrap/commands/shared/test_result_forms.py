"""Results by the ends of files' names."""

import click
import pytest
from click.testing import CliRunner

from racetrap.commands.shared.result_forms import Form, form_files

_PAGE = Form(".html", "a page")
_WAVES = Form(".fst", "waves", to_standard_output=False, companions=(".log",))


@click.command()
@form_files(_PAGE, _WAVES)
def _command(output):
    click.echo(sorted(output.items()))


def test_each_form_by_its_end(tmp_path):
    page, waves = str(tmp_path / "x.html"), str(tmp_path / "x.fst")
    done = CliRunner().invoke(_command, ["-o", page, "--output", waves])
    assert done.output == f"{[('.fst', waves), ('.html', page)]}\n"
    assert CliRunner().invoke(_command, ["-o", "-.html"]).output == "[('.html', '-')]\n"
    assert CliRunner().invoke(_command, []).output == "[]\n"


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (["x.png"], "Name of the file must end in .html (a page), .fst (waves), not x.png"),
        (["-"], "Name of the file must end in .html (a page), .fst (waves), not -"),
        (["-.fst"], "File must have a name, not -.fst"),
        (["a.html", "b.html"], "One file .html can be written, not both a.html and b.html"),
        (["no/a.html"], "File must be one that can be written, not no/a.html"),
    ],
)
def test_what_is_refused(files, sentence):
    done = CliRunner().invoke(_command, [word for file in files for word in ("-o", file)])
    assert done.exit_code == 2
    assert sentence in done.output


def test_files_of_a_command_line():
    (option,) = _command.params
    values = ["-.html", "a.html", "b.fst", "c.png"]
    assert option.type.files(values, {}) == ["-", "a.html", "b.fst", "b.fst.log", "c.png"]
    assert option.type.is_output
