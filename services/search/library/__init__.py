"""Readers of a Zotero library and the sync that keeps the index in step with it."""
