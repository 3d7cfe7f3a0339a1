"""State bits by kind: the elaborated design holds what the method needs, and says what is more."""

import functools

import pytest

from racetrap.generators.presets import PRESETS, with_settings
from racetrap.generators.sigrace import SIGRACE
from racetrap.generators.state import state_parts
from racetrap.generators.structure import state_bits, total_state
from racetrap.generators.systems import system_of
from tests.support.campaign import later_but

#: State of a configuration, elaborated once.
_parts_of = functools.cache(state_parts)
METHOD = ("lock_tables", "barrier_ids", "fence_files")


@pytest.mark.parametrize("name", ["scord-tiny", "scord", "scord-local", "scord-banks4"])
def test_the_methods_state_is_in_the_design(name):
    parts = {part.kind: part for part in _parts_of(PRESETS[name].params)}
    for kind in METHOD:
        assert parts[kind].method > 0
    assert parts["lock_tables"].memory_bits == parts["lock_tables"].method
    assert parts["fence_files"].memory_bits == parts["fence_files"].method
    assert parts["barrier_ids"].flip_flops == parts["barrier_ids"].method
    assert {kind for kind, part in parts.items() if part.method} == set(METHOD)
    assert parts["local_memory"].memory_bits == 8 * PRESETS[name].params.local_bytes


def test_a_port_of_several_words_has_one_fence_file():
    """Whatever its words; a lane without an SM has memory, too."""
    params = with_settings(PRESETS["scord-tiny"].params, ["words_per_cycle=4", "banks=8"])
    parts = {part.kind: part for part in _parts_of(params)}
    assert parts["fence_files"].memory_bits == parts["fence_files"].method == 2 * 8 * 12


def test_the_papers_figure():
    """Section IV-C: 152 bytes an SM and 720 bytes of fence file, about 2.9 KB in all."""
    parts = _parts_of(PRESETS["scord"].params)
    assert sum(part.method for part in parts) == 8 * (15 * 152 + 720)


@pytest.mark.parametrize(
    ("name", "settings"),
    later_but(
        lambda each: not each[1],
        [("sigrace-tiny", []), ("sigrace-tiny", ["form=hashed", "contexts=2"])],
    ),
)
def test_sigraces_state_is_in_the_design(name, settings):
    params = with_settings(PRESETS[name].params, settings)
    parts = {part.kind: part for part in _parts_of(params)}
    for kind in ("timestamps_to_reach", "read_write_sets", "conflict_signatures"):
        assert 0 < parts[kind].method <= parts[kind].flip_flops < 1.5 * parts[kind].method, kind
    assert parts["history_queues"].memory_bits == parts["history_queues"].method


def test_the_papers_figures_of_sigrace():
    """Section 5.5: 8,512 bytes in the RDM and 808 at the core, for each of eight processors."""
    params = with_settings(PRESETS["sigrace"].params, ["form=hashed"])
    assert sum(SIGRACE.method_bits(params).values()) == 8 * 8 * (8512 + 808)


@pytest.mark.parametrize(
    "name",
    later_but("causality-tiny".__eq__, ["causality-tiny", "causality", "causality-wide"]),
)
def test_causalitys_state_is_in_the_design(name):
    """In memories, and of the collector's but for what it keeps of flags beside them."""
    parts = {part.kind: part for part in _parts_of(PRESETS[name].params)}
    kinds = {kind for kind, part in parts.items() if part.method}
    assert kinds == {"rows", "warp_states", "block_warps", "collector"}
    for kind in kinds - {"collector"}:
        assert parts[kind].memory_bits == parts[kind].method
    collector = parts["collector"]
    assert collector.method < collector.memory_bits < 1.01 * collector.method


@pytest.mark.parametrize(
    "name",
    ["scord-tiny", "causality-tiny", pytest.param("sigrace-tiny", marks=pytest.mark.campaign)],
)
def test_kinds_add_up_to_the_whole_design(name):
    params = PRESETS[name].params
    parts = _parts_of(params)
    whole = total_state(state_bits(system_of(params).top(params)))
    assert sum(part.flip_flops for part in parts) == whole.flip_flops
    assert sum(part.memory_bits for part in parts) == whole.memory_bits
