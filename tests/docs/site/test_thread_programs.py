"""Tables and chapters of the programs with threads."""

from docs.site.thread_programs import (
    program_chapters,
    programs_table,
    small_programs_table,
)
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from tests.support.threads.small_programs import SMALL_PROGRAMS


def test_every_program_has_a_row_and_a_chapter():
    chapters, rows = program_chapters(), programs_table()
    for name, program in PROGRAMS.items():
        assert f"### {name}: {program.title}\n" in chapters
        scales = " | ".join(map(str, program.scales))
        assert f"\n| `{name}` | {program.kind} | " in rows
        assert f" | {scales} | {len(program.benign_lines) or 'none'} |\n" in rows
    assert chapters.count("\nSharing: ") == chapters.count("\nRaces: ") == len(PROGRAMS)


def test_every_source_of_small_programs_has_a_row():
    rows = small_programs_table()
    for case in SMALL_PROGRAMS.values():
        assert f"\n| `{case.source.name}` | " in rows
        assert case.name.replace("_", " ") in rows
