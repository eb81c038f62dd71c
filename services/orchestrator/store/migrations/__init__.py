"""The schema's history, one file a change."""
