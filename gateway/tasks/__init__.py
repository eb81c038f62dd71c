"""The task wire under /api/v1: what Shannon's clients send and read, over the same runs."""
