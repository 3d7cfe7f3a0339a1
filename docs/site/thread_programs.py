"""Tables and chapters of the programs with threads, from their catalogue and their sources."""

from __future__ import annotations

import re
import textwrap

from docs.site.markdown import table
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES, PthreadProgram
from tests.support.threads.small_programs import SMALL_PROGRAMS


def _paragraphs(program: PthreadProgram) -> str:
    """The comment at the top of the source: what it computes, sharing and races."""
    text = program.source.read_text(encoding="utf-8")
    lines = text[: text.index("*/")].removeprefix("/*").splitlines()
    text = " ".join(line.strip().removeprefix("*").strip() for line in lines)
    parts = re.split(r" (?=Sharing:|Races:)", text.strip())
    return "\n\n".join(textwrap.fill(part, 100) for part in parts)


def programs_table() -> str:
    """The programs, their sizes, and their lines with harmless races."""
    rows = (
        (
            f"`{program.name}`", program.kind, "C++" if program.suffix == ".cpp" else "C",
            *program.scales, len(program.benign_lines) or "none",
        )
        for program in PROGRAMS.values()
    )  # fmt: skip
    scales = (f"scale, `{size}`" for size in SIZES)
    return table(("program", "kind", "language", *scales, "lines marked `benign race`"), rows)


def program_chapters() -> str:
    """What each program computes, what its threads share, and its races."""
    return "\n".join(
        f"### {one.name}: {one.title}\n\n{_paragraphs(one)}\n" for one in PROGRAMS.values()
    )


def small_programs_table() -> str:
    """The small programs of each source, racy and clean."""
    rows: list[tuple[object, ...]] = []
    for source in dict.fromkeys(case.source for case in SMALL_PROGRAMS.values()):
        cases = [case for case in SMALL_PROGRAMS.values() if case.source == source]
        rows.append((f"`{source.name}`", *(
            ", ".join(case.name.replace("_", " ") for case in cases if case.is_racy == is_racy)
            for is_racy in (True, False)
        )))  # fmt: skip
    racy = sum(case.is_racy for case in SMALL_PROGRAMS.values())
    rows.append((f"{len(SMALL_PROGRAMS)} programs", racy, len(SMALL_PROGRAMS) - racy))
    return table(("small programs", "racy", "clean"), rows)
