"""Kernels whose race is in a header, a template or a library, with the lines that race."""
