"""The orchestrator process: runs as stored state."""
