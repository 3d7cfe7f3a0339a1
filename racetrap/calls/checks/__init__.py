"""Checks of a trace or kernel, one for each kind, and their output."""
