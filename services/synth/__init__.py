"""The synth process: every prompt and everything that writes."""
