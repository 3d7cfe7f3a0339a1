"""Explanations name the parameters that move a figure, and count what is more in the design."""

from racetrap.fpga.cost.explain import compare, explain_state
from racetrap.generators.presets import PRESETS, with_settings
from racetrap.generators.state import StatePart


def explanations(name, *settings):
    params = with_settings(PRESETS[name].params, settings)
    return {each.name: each.explanation for each in compare(params)}


def test_equal_figures_say_so():
    assert set(explanations("scord").values()) == {"equal", "equal as the paper rounds"}
    assert set(explanations("sigrace", "form=hashed").values()) == {"equal"}


def test_only_what_moves_the_figure_is_named():
    said = explanations("scord", "banks=4", "ratio=1", "outstanding=64")
    assert said["fence files"] == "banks is 4 (paper: 1), alone 2,880"
    assert said["metadata for the data"] == "ratio is 1 (paper: 16), alone 200"
    assert said["state of an SM"] == "equal"


def test_several_causes():
    assert explanations("scord-tiny")["fence files"] == (
        "sm_count is 2 (paper: 15), alone 96; warps_per_sm is 4 (paper: 32), alone 90"
    )


def test_the_form_of_sigraces_cores():
    said = explanations("sigrace")
    assert said["core, a processor"] == "form is sets (paper: hashed), alone 493.25"
    assert said["RDM, a processor"] == "equal"


def test_a_cause_in_conflict_with_the_papers_other_parameters():
    # Counters of 16 bits fit in an entry only with the small geometry.
    said = explanations("scord-tiny", "fence_id_bits=12")
    assert "fence_id_bits is 12 (paper: 6)" in said["fence files"]
    assert "fence_id_bits" not in said["state of an SM"]


def test_state_sentences():
    parts = [
        StatePart("fence_files", 20, 0, 20),
        StatePart("lock_tables", 30, 5, 30),
        StatePart("small", 0, 1, 0),
        StatePart("large", 0, 40, 4),
        StatePart("absent", 0, 0, 0),
    ]
    assert explain_state(parts) == [
        "The method needs 50 bits of state; the elaborated design has 100 (2.0 times): "
        "46 flip-flops and 54 bits of memory.",
        "Of fence files the method needs 20 bits; the design has 20 in memory and 0 in "
        "flip-flops: exactly those.",
        "Of lock tables the method needs 30 bits; the design has 30 in memory and 5 in "
        "flip-flops: 5 more.",
        "What the papers do not count, in bits: large 44, small 1.",
    ]
