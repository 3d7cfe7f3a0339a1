"""JUnit files: verdicts as test cases, for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from racetrap.presenters.printable import printable


def junit_text(suite: str, problems: Mapping[str, str | None]) -> str:
    """Text of a JUnit file.

    Parameters
    ----------
    suite : str
        Name of the suite.
    problems : mapping of str to str or None
        Failure of each case by name; ``None`` if it passed.
    """
    suite = printable(suite)
    root = ElementTree.Element("testsuite", name=suite)
    for name, problem in problems.items():
        case = ElementTree.SubElement(root, "testcase", classname=suite, name=name)
        if problem is not None:
            ElementTree.SubElement(case, "failure", message=printable(problem))
    root.set("tests", str(len(problems)))
    root.set("failures", str(sum(problem is not None for problem in problems.values())))
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True).decode()
