"""Sentences on standard error with an exit status, and files of results."""

import pytest

from racetrap.commands.shared.terminal import ExitStatus, fail, input_errors, write_json


def test_fail(capsys):
    with pytest.raises(SystemExit) as caught:
        fail(ValueError("Depth must be even, not 3."), ExitStatus.FAILED)
    assert caught.value.code == 3
    assert capsys.readouterr().err == "racetrap: Depth must be even, not 3.\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("Size must be 4, not 3"), "Size must be 4, not 3."),
        (FileNotFoundError(2, "No such file or directory", "x"), "x: No such file or directory."),
        (OSError("strange"), "strange."),
    ],
)
def test_input_errors(capsys, error, words):
    with pytest.raises(SystemExit) as caught, input_errors():
        raise error
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"racetrap: {words}\n"


def test_input_errors_name_the_file(capsys):
    with pytest.raises(SystemExit), input_errors("x.trace"):
        raise ValueError("Event 3: Size must be 4")
    assert capsys.readouterr().err == "racetrap: x.trace: Event 3: Size must be 4.\n"


def test_json_to_a_folder_that_is_not_there(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        write_json(str(tmp_path / "no" / "x.json"), {})
    assert caught.value.code == 2
    assert "No such file" in capsys.readouterr().err
