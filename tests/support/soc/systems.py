"""The example systems as parameters of tests: each is skipped without its core."""

from importlib.util import find_spec

import pytest

from racetrap.sim.soc.systems import SYSTEMS


def needs_core(system: str) -> pytest.MarkDecorator:
    """Mark of what needs a system's core."""
    return pytest.mark.skipif(
        find_spec(SYSTEMS[system].package) is None, reason=f"Core {system}: extra soc"
    )


#: The systems, one build of each, for which all wait.
EACH_SYSTEM = [
    pytest.param(name, marks=[needs_core(name), pytest.mark.xdist_group(f"soc-{name}")])
    for name in SYSTEMS
]
