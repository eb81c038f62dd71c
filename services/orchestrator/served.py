"""What the process serves."""

from collections.abc import Mapping

from services.chassis.server import Register
from services.orchestrator import chat_servicer, models_servicer, review_servicer, task_servicer
from services.orchestrator.chat_servicer import ChatServicer
from services.orchestrator.models_servicer import Models, ModelServicer
from services.orchestrator.review_servicer import ReviewServicer
from services.orchestrator.reviewing import Reviewing
from services.orchestrator.signals import Signals
from services.orchestrator.store.together import Store
from services.orchestrator.task_servicer import TaskServicer
from services.orchestrator.turns import Rules
from zocrates.orchestrator.v1 import chat_pb2_grpc, models_pb2_grpc, review_pb2_grpc, task_pb2_grpc


def served(
    store: Store, reviewing: Reviewing, rules: Rules, signals: Signals, models: Models
) -> Mapping[str, Register]:
    """The services by name."""
    chat = ChatServicer(
        store.runs, store.sessions, store.checkpoints, store.control, reviewing, rules, signals
    )
    tasks = TaskServicer(
        store.tasks, store.task_sessions, store.control, store.pausing, rules, signals
    )
    reviews = ReviewServicer(store.reviews, store.checkpoints, store.sessions, reviewing, signals)
    return {
        chat_servicer.SERVICE: lambda server: chat_pb2_grpc.add_ChatServiceServicer_to_server(
            chat, server
        ),
        task_servicer.SERVICE: lambda server: task_pb2_grpc.add_TaskServiceServicer_to_server(
            tasks, server
        ),
        review_servicer.SERVICE: lambda server: review_pb2_grpc.add_ReviewServiceServicer_to_server(
            reviews, server
        ),
        models_servicer.SERVICE: lambda server: models_pb2_grpc.add_ModelServiceServicer_to_server(
            ModelServicer(models), server
        ),
    }
