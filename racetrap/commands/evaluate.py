"""`racetrap evaluate`: the papers' tables from our own runs."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {
    "advice": "Compare advised fences with those in the programs' correct versions.",
    "bugaroo": "Tables II, III and IV of the Bugaroo paper.",
    "noncoherent": "Figures and Table 5.1 of the thesis on non-coherent accelerators.",
    "policies": "Races found by access buffers that drop or sample accesses.",
    "rules": "Verdicts of the exact analysis under each of its rules.",
    "scord": "Tables VI and VII of the ScoRD paper.",
    "sigrace": "Figures 7, 8 and 10 and Table 7 of the SigRace paper.",
}


@lazy_group("evaluate", _LINES)
def command() -> None:
    """Reproduce the papers' tables on this machine."""
