"""The demo library: invented papers, their generator, and questions with known pages."""
