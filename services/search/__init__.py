"""The search process: readers of the library, the index, and queries over it."""
