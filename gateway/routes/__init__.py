"""The HTTP routes, one file a noun."""
