"""Reranking against sentence-transformers in one run: `make bench-rerank`.

No package brings the weights of a cross-encoder, so one of the same size is made of the embedding
model with a head of no meaning: its work is the same. Both sides are asked in
turn, group by group, so that whatever else the machine does falls on both.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from deploy.cross_encoder_export import CROSS_ENCODER_FOLDER, save_cross_encoder
from deploy.models import packaged_model
from services.rerank.batching import batching
from services.rerank.cross_encoder import open_exported_cross_encoder
from services.rerank.scoring import Pair, Scorer
from tests.bench.machine import machine
from tests.bench.retrieval_data import scifact

CACHE = Path(tempfile.gettempdir()) / "zocrates-bench-cross-encoder"
BATCH = 32
PLAIN_PAIRS = 128
REQUESTS = 32
CANDIDATES = 50
# Eight of the requests ask again about forty of an earlier one's candidates: a fifth of all pairs.
ASKED_AGAIN = 8
KEPT_OF_THOSE = 40
GROUP = 8
SEED = 7
PAIRS_PER_TURN = 64
MAX_TOKENS = 256


def models() -> tuple[Any, Scorer]:
    """The library's model and ours, of the same weights; made once and kept."""
    from sentence_transformers import CrossEncoder

    if not (CACHE / "made").exists():
        shutil.rmtree(CACHE, ignore_errors=True)
        fresh = CACHE / "fresh"
        model = CrossEncoder(str(packaged_model()), num_labels=1, device="cpu")
        with_head(model)
        model.save_pretrained(str(fresh))
        line = save_cross_encoder(str(fresh), CACHE, least_correlation=0.5)
        print(line)
        assert line.endswith("with its network")
        (CACHE / "made").touch()
    folder = CACHE / CROSS_ENCODER_FOLDER
    return CrossEncoder(str(folder), device="cpu"), open_exported_cross_encoder(folder, threads=0)


def with_head(model: Any) -> None:
    """Let the score be what tells pairs apart most: a random head would give nearly equal ones."""
    import torch

    pairs = [(one.claim, one.text) for one in requests()[0]]
    features = model.tokenizer(
        pairs, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt"
    )
    with torch.no_grad():
        pooled = model[0].auto_model.base_model(**features).pooler_output
        centred = pooled - pooled.mean(0)
        direction = torch.linalg.svd(centred, full_matrices=False).Vh[0]
        scale = 3 / (centred @ direction).std()
        classifier = model[0].auto_model.classifier
        classifier.weight.copy_((scale * direction).unsqueeze(0))
        classifier.bias.copy_(-(pooled.mean(0) @ classifier.weight[0]).unsqueeze(0))


def requests() -> list[list[Pair]]:
    """Claims, each with fifty abstracts in their real lengths; some are asked twice."""
    random = np.random.default_rng(SEED)
    collection = scifact("train")
    texts = [f"{one.title}\n{one.text}" for one in collection.documents.values()]
    claims = list(collection.queries.values())
    made: list[list[Pair]] = []
    for place in range(REQUESTS):
        drawn = [texts[int(one)] for one in random.choice(len(texts), CANDIDATES, replace=False)]
        if place < REQUESTS - ASKED_AGAIN:
            made.append([Pair(claims[place], text) for text in drawn])
        else:
            earlier = made[place - (REQUESTS - ASKED_AGAIN)]
            again = earlier[:KEPT_OF_THOSE]
            fresh = [Pair(earlier[0].claim, text) for text in drawn[KEPT_OF_THOSE:]]
            made.append([*again, *fresh])
    order = random.permutation(REQUESTS)
    return [made[place] for place in order]


class Clock:
    """Wall and processor seconds of one side."""

    def __init__(self) -> None:
        self.wall = 0.0
        self.processor = 0.0

    def time(self, work: Callable[[], object]) -> object:
        """Run the work and add what it took."""
        wall, processor = time.perf_counter(), time.process_time()
        result = work()
        self.wall += time.perf_counter() - wall
        self.processor += time.process_time() - processor
        return result


def predict(model: Any, pairs: Sequence[Pair]) -> Any:
    """What a user of the library would call."""
    return model.predict(
        [(one.claim, one.text) for one in pairs], batch_size=BATCH, show_progress_bar=False
    )


def row(what: str, pairs: int, theirs: Clock, ours: Clock) -> None:
    """Print one comparison."""
    print(
        f"{what}: {pairs} pairs, predict {pairs / theirs.wall:.1f}/s, "
        f"ours {pairs / ours.wall:.1f}/s = {theirs.wall / ours.wall:.2f} times "
        f"(processor time {theirs.processor:.1f} s and {ours.processor:.1f} s "
        f"= {theirs.processor / ours.processor:.2f} times)"
    )


def same_pairs(model: Any, scorer: Scorer, pairs: Sequence[Pair]) -> None:
    """The same pairs through both, batch after batch in turn."""
    theirs, ours = Clock(), Clock()
    differences = []
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        wanted = theirs.time(lambda batch=batch: predict(model, batch))  # type: ignore[misc]
        got = ours.time(lambda batch=batch: scorer.support(batch))  # type: ignore[misc]
        differences.append(np.abs(np.asarray(wanted) - np.asarray(got)))
    row("same pairs, batch 32", len(pairs), theirs, ours)
    print(f"  mean difference of the scores (0 to 1): {np.concatenate(differences).mean():.4f}")


def mixed(model: Any, scorer: Scorer, asked: Sequence[Sequence[Pair]]) -> None:
    """Requests as they come: one after the other there, gathered here."""
    theirs, ours = Clock(), Clock()

    async def whole() -> None:
        with ThreadPoolExecutor(1) as worker:
            async with batching(scorer.relevance, worker, max_pairs=PAIRS_PER_TURN) as batcher:
                for start in range(0, len(asked), GROUP):
                    group = asked[start : start + GROUP]
                    wall, processor = time.perf_counter(), time.process_time()
                    await asyncio.gather(*(batcher.score(pairs) for pairs in group))
                    ours.wall += time.perf_counter() - wall
                    ours.processor += time.process_time() - processor
                    for pairs in group:
                        theirs.time(lambda pairs=pairs: predict(model, pairs))  # type: ignore[misc]

    asyncio.run(whole())
    pairs = [pair for request in asked for pair in request]
    row("realistic mix", len(pairs), theirs, ours)
    print(f"  {1 - len(set(pairs)) / len(pairs):.0%} of the pairs are repeated")


def main() -> None:
    """Measure and print."""
    print(f"machine: {machine()}")
    model, scorer = models()
    asked = requests()[: int(os.environ.get("REQUESTS", REQUESTS))]
    pairs = list(dict.fromkeys(pair for request in asked for pair in request))
    predict(model, pairs[:BATCH])
    scorer.support(pairs[:BATCH])
    same_pairs(model, scorer, pairs[: int(os.environ.get("PAIRS", PLAIN_PAIRS))])
    mixed(model, scorer, asked)


if __name__ == "__main__":
    main()
