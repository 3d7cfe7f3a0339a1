"""Causality: a detector of a GPU that reports what no release and acquire, fence order or barrier
can have ordered.

Ref: ScoRD (ISCA'20) Section VI sketches it: acquire and release, and independent threads.
"""
