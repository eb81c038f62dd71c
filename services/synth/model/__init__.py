"""The mind that thinks with a language model."""
