"""Starts the rerank process: `python -m services.rerank`."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

from services.chassis.metrics import Metrics, new_registry
from services.chassis.server import run, serve
from services.chassis.settings import read_settings
from services.chassis.telemetry import telemetry
from services.rerank.batching import batching
from services.rerank.metrics import RerankMetrics
from services.rerank.model import open_scorer
from services.rerank.scoring import ModelUnusable, Scorer
from services.rerank.servicer import RerankServicer
from services.rerank.settings import Settings
from zocrates.rerank.v1 import rerank_pb2 as pb
from zocrates.rerank.v1.rerank_pb2_grpc import add_RerankServiceServicer_to_server

PAIRS_PER_TURN = 64


async def main(settings: Settings, scorer: Scorer, stop: asyncio.Event) -> None:
    """Serve until told to stop."""
    registry = new_registry()
    counted = RerankMetrics(registry)
    rank = counted.counting("relevance", scorer.relevance)
    judge = counted.counting("support", scorer.support)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="model") as worker:
        async with (
            batching(rank, worker, max_pairs=PAIRS_PER_TURN) as relevance,
            batching(judge, worker, max_pairs=PAIRS_PER_TURN) as support,
        ):
            counted.watch({"relevance": relevance, "support": support})
            servicer = RerankServicer(
                relevance, support, scorer.identity, budget_s=settings.budget_s
            )
            name = pb.DESCRIPTOR.services_by_name["RerankService"].full_name
            services = {name: lambda server: add_RerankServiceServicer_to_server(servicer, server)}
            metrics = Metrics(registry=registry, look_up=counted.look_up)
            await serve(settings, services, until=stop, metrics=metrics)


if __name__ == "__main__":
    settings = read_settings(Settings)
    with telemetry("rerank", settings.log_level):
        try:
            scorer = open_scorer(settings)
        except ModelUnusable as error:
            sys.exit(str(error))
        run(lambda stop: main(settings, scorer, stop))
