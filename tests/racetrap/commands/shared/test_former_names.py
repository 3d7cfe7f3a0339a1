"""Former names of options: the error says the new one."""

import pytest


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["presets", "-q"], "No such option '-q', which is now an option before the command"),
        (["presets", "--jsno"], "No such option '--jsno'. Did you mean '--json'?"),
        (["presets", "--zebra"], "No such option '--zebra'.\n"),
        (
            ["campaign", "--volume", "3"],
            "No such option '--volume', which is now --budget.",
        ),
    ],
)
def test_error_says_the_new_name(racetrap, words, sentence):
    result = racetrap(*words)
    assert result.exit_code == 2
    assert sentence in result.output
