"""Typed clients of the other processes."""
