"""Every way to the database, on one set of connections."""

from dataclasses import dataclass

from services.orchestrator.store.checkpoints import Checkpoints
from services.orchestrator.store.control import Control
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import History
from services.orchestrator.store.outbox import Outbox
from services.orchestrator.store.pausing import Pausing
from services.orchestrator.store.retention import Retention
from services.orchestrator.store.review_expiry import ReviewExpiry
from services.orchestrator.store.reviews import Reviews
from services.orchestrator.store.runs import Runs
from services.orchestrator.store.sessions import Sessions
from services.orchestrator.store.story import Stories
from services.orchestrator.store.task_sessions import TaskSessionStore
from services.orchestrator.store.tasks import TaskStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Every way to the database."""

    runs: Runs
    history: History
    checkpoints: Checkpoints
    control: Control
    pausing: Pausing
    reviews: Reviews
    review_expiry: ReviewExpiry
    sessions: Sessions
    tasks: TaskStore
    task_sessions: TaskSessionStore
    outbox: Outbox
    retention: Retention
    stories: Stories


def store_on(database: Database) -> Store:
    """All of them on these connections."""
    return Store(
        runs=Runs(database),
        history=History(database),
        checkpoints=Checkpoints(database),
        control=Control(database),
        pausing=Pausing(database),
        reviews=Reviews(database),
        review_expiry=ReviewExpiry(database),
        sessions=Sessions(database),
        tasks=TaskStore(database),
        task_sessions=TaskSessionStore(database),
        outbox=Outbox(database),
        retention=Retention(database),
        stories=Stories(database),
    )
