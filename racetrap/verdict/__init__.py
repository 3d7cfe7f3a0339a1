"""Verdicts: decision, grouping and explanation of findings on GPUs, threads and accelerators."""
