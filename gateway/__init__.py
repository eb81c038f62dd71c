"""The gateway process: HTTP and SSE for people and their programs."""
