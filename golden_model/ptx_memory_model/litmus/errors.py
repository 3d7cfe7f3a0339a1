"""Error of litmus tests."""

from __future__ import annotations


class LitmusError(ValueError):
    """A litmus test cannot be read, or is outside the model.

    Parameters
    ----------
    name : str
        File of the test.
    line : int
        Its line, from 1.
    sentence : str
        What is wrong.
    """

    def __init__(self, name: str, line: int, sentence: str) -> None:
        super().__init__(f"{name}:{line}: {sentence}")
        self.name, self.line, self.sentence = name, line, sentence

    def __reduce__(self) -> tuple[type, tuple[str, int, str]]:
        return type(self), (self.name, self.line, self.sentence)
