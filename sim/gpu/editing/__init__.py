"""Edits of CUDA sources: statements, places between them, and patches."""
