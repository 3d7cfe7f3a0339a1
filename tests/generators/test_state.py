"""State bits by kind: the elaborated design holds what the method needs, and says what is more."""

import pytest

from racetrap.generators.presets import PRESETS
from racetrap.generators.state import state_parts
from racetrap.generators.structure import state_bits, total_state
from racetrap.rtl.scord.system import ScordSystem

METHOD = ("lock_tables", "barrier_ids", "fence_files")


@pytest.mark.parametrize("name", ["scord-tiny", "scord", "scord-local"])
def test_the_methods_state_is_in_the_design(name):
    parts = {part.kind: part for part in state_parts(PRESETS[name].params)}
    for kind in METHOD:
        assert parts[kind].method > 0
    assert parts["lock_tables"].memory_bits == parts["lock_tables"].method
    assert parts["fence_files"].memory_bits == parts["fence_files"].method
    assert parts["barrier_ids"].flip_flops == parts["barrier_ids"].method
    assert all(part.method == 0 for kind, part in parts.items() if kind not in METHOD)
    assert parts["local_memory"].memory_bits == 8 * PRESETS[name].params.local_bytes


def test_the_papers_figure():
    """Section IV-C: 152 bytes an SM and 720 bytes of fence file, about 2.9 KB in all."""
    parts = state_parts(PRESETS["scord"].params)
    assert sum(part.method for part in parts) == 8 * (15 * 152 + 720)


def test_kinds_add_up_to_the_whole_design():
    params = PRESETS["scord-tiny"].params
    parts = state_parts(params)
    whole = total_state(state_bits(ScordSystem(params)))
    assert sum(part.flip_flops for part in parts) == whole.flip_flops
    assert sum(part.memory_bits for part in parts) == whole.memory_bits
