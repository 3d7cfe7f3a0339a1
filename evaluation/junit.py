"""JUnit files: verdicts as test cases, for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_junit"]


def write_junit(path: Path, suite: str, problems: Mapping[str, str | None]) -> None:
    """Write a JUnit file.

    Parameters
    ----------
    path : Path
        The file.
    suite : str
        Name of the suite.
    problems : mapping of str to str or None
        By name of the case, why it failed; ``None`` if it passed.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    root = ElementTree.Element("testsuite", name=suite)
    for name, problem in problems.items():
        case = ElementTree.SubElement(root, "testcase", classname=suite, name=name)
        if problem is not None:
            ElementTree.SubElement(case, "failure", message=problem)
    root.set("tests", str(len(problems)))
    root.set("failures", str(sum(problem is not None for problem in problems.values())))
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
