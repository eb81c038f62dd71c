"""All SQL of the orchestrator."""
