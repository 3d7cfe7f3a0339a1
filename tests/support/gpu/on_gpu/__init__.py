"""Suites with a GPU, or the executor in its place, as the subject."""
