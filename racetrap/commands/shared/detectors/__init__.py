"""Detector-specific parts of commands: simulation of traces and suites, traces on a board."""
