"""A decision on a checkpoint as it is stored."""

from dataclasses import dataclass

from services.orchestrator.checkpoint import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A validated decision; no choice stands for one that this code does not know."""

    owner: str
    session_id: str
    run_id: str
    interrupt_id: str
    choice: Choice | None
    guidance: str
    expected_version: int | None
    idempotency_key: str
    body_hash: str
    # Of consent: what to do instead, and who decided, as the caller told it.
    modified_action: str = ""
    approved_by: str = ""

    @property
    def names(self) -> dict[str, str]:
        """What names the checkpoint."""
        return {
            "owner": self.owner,
            "session_id": self.session_id,
            "run_id": self.run_id,
            "interrupt_id": self.interrupt_id,
        }
