"""Shared parts of tests: benches, generators of stimulus, definitions that are slow and plain."""

from pathlib import Path

#: The checkout.
REPOSITORY = Path(__file__).parents[2]
