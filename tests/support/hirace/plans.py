"""Configurations for co-simulation of HiRace."""

from __future__ import annotations

from dataclasses import replace

from racetrap.generators.presets import find_preset

#: Four banks, so that the interconnect matters, each with room for an access a cycle: one build of
#: several tests.
DEEP_BANKS = replace(find_preset("hirace-tiny").params, banks=4, outstanding=32)
