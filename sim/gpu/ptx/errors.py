"""Error of the PTX front end."""

from __future__ import annotations


class PtxError(ValueError):
    """A PTX text that cannot be read, or cannot be run.

    Parameters
    ----------
    name : str
        File of the text.
    line : int
        Line of the text, from 1.
    sentence : str
        What is wrong.
    """

    def __init__(self, name: str, line: int, sentence: str) -> None:
        super().__init__(f"{name}:{line}: {sentence}")
        self.name, self.line, self.sentence = name, line, sentence

    def __reduce__(self):
        return type(self), (self.name, self.line, self.sentence)
