"""The rerank process over real gRPC, with the real models."""

import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import numpy as np
import pytest

from deploy.cross_encoder_export import save_cross_encoder
from deploy.model_folder import models_folder
from deploy.models import packaged_model
from services.chassis.channel import open_channel
from services.chassis.errors import failure_of
from services.chassis.server import serving
from services.rerank.batching import batching
from services.rerank.cross_encoder import ExportedCrossEncoder
from services.rerank.model import CrossEncoderScorer, open_scorer
from services.rerank.scoring import Identity, ModelUnusable, Pair, Scorer
from services.rerank.servicer import MAX_CANDIDATES, MAX_PAIRS, RerankServicer
from services.rerank.settings import Settings
from zocrates.rerank.v1 import rerank_pb2 as pb
from zocrates.rerank.v1 import rerank_pb2_grpc as rpc

NAP = "A nap of thirty minutes restored the vigilance of nurses on night shifts."
WING = "The pressure on a delta wing at supersonic speed was measured in a tunnel."
LIGHT = "Morning light advanced the circadian phase of older adults by twenty minutes."
QUESTION = "Does napping help nurses stay alert at night?"


@pytest.fixture(scope="module")
def stand_in() -> Scorer:
    return open_scorer(Settings(models_dir=models_folder()))


@pytest.fixture(scope="module")
def cross_encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real cross-encoder: the packaged weights with a fresh head of one output, saved to disk."""
    from sentence_transformers import CrossEncoder

    folder = tmp_path_factory.mktemp("models") / "cross-encoder"
    model = CrossEncoder(str(packaged_model()), num_labels=1, device="cpu")
    model.save_pretrained(str(folder))
    return folder


@asynccontextmanager
async def stub_of(scorer: Scorer) -> AsyncIterator[rpc.RerankServiceStub]:
    with ThreadPoolExecutor(max_workers=1) as worker:
        async with (
            batching(scorer.relevance, worker, max_pairs=64) as relevance,
            batching(scorer.support, worker, max_pairs=64) as support,
        ):
            servicer = RerankServicer(relevance, support, scorer.identity)
            services = {
                "zocrates.rerank.v1.RerankService": lambda server: (
                    rpc.add_RerankServiceServicer_to_server(servicer, server)
                )
            }
            async with (
                serving(services) as running,
                open_channel(f"127.0.0.1:{running.port}") as channel,
            ):
                yield rpc.RerankServiceStub(channel)


def candidate(passage_id: str, text: str, words: int = 12, rank: int = 1) -> pb.Candidate:
    return pb.Candidate(passage_id=passage_id, text=text, words=words, retrieval_rank=rank)


def request(*candidates: pb.Candidate, query: str = QUESTION, **limits: int) -> pb.RerankRequest:
    return pb.RerankRequest(
        query=query,
        candidates=candidates,
        max_passages=limits.get("passages", 10),
        max_words=limits.get("words", 1_000),
    )


async def reason_of(call: grpc.aio.UnaryUnaryCall) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    failure = failure_of(caught.value)
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.message.endswith(".")
    return failure.reason


async def test_the_passage_that_answers_comes_first_and_the_scorer_says_what_it_is(
    stand_in: Scorer,
) -> None:
    async with stub_of(stand_in) as stub:
        reply = await stub.Rerank(
            request(candidate("w", WING), candidate("l", LIGHT), candidate("n", NAP)), timeout=60
        )
        described = await stub.DescribeScorers(pb.DescribeScorersRequest(), timeout=20)
    assert described.relevance == described.support == reply.scorer
    assert [one.passage_id for one in reply.kept] == ["n", "l", "w"]
    assert (reply.considered, reply.words_kept) == (3, 36)
    assert reply.scorer.kind == pb.SCORER_KIND_EMBEDDING_STAND_IN
    assert "No cross-encoder is installed" in reply.scorer.description
    assert not reply.scorer.calibrated


async def test_the_sentences_of_a_kept_passage_are_scored_in_its_order(stand_in: Scorer) -> None:
    text = f"{WING} {NAP} {LIGHT}"
    async with stub_of(stand_in) as stub:
        (kept,) = (await stub.Rerank(request(candidate("a", text)), timeout=60)).kept
    wing, nap, light = kept.sentence_scores
    assert 0 <= wing < light < nap <= 1


async def test_the_same_text_in_two_works_takes_one_place(stand_in: Scorer) -> None:
    candidates = [candidate("a", NAP), candidate("b", NAP), candidate("c", LIGHT)]
    async with stub_of(stand_in) as stub:
        reply = await stub.Rerank(request(*candidates, passages=2), timeout=60)
    assert [one.passage_id for one in reply.kept] == ["a", "c"]


async def test_the_limits_of_the_request_hold(stand_in: Scorer) -> None:
    candidates = [candidate("n", NAP, words=60), candidate("l", LIGHT, words=60)]
    async with stub_of(stand_in) as stub:
        reply = await stub.Rerank(request(*candidates, words=100), timeout=60)
    assert [one.passage_id for one in reply.kept] == ["n"]
    assert reply.words_kept == 60


async def test_support_is_rated_pair_by_pair_between_zero_and_one(stand_in: Scorer) -> None:
    pairs = [(NAP, f"{WING} {NAP}"), (NAP, WING), (NAP, f"{WING} {NAP}")]
    async with stub_of(stand_in) as stub:
        reply = await stub.ScoreSupport(
            pb.ScoreSupportRequest(
                pairs=[pb.SupportPair(claim=claim, passage=text) for claim, text in pairs]
            ),
            timeout=60,
        )
    full, none, again = [support.score for support in reply.supports]
    assert 0 <= none < 0.3 < 0.6 < full == again <= 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (request(candidate("a", NAP), query=" \n"), "INVALID_QUERY"),
        (request(candidate("a", NAP), query="x" * 20_001), "INVALID_QUERY"),
        (request(candidate("a", NAP), candidate("a", WING)), "DUPLICATE_CANDIDATE"),
        (
            request(*[candidate(str(n), NAP) for n in range(MAX_CANDIDATES + 1)]),
            "TOO_MANY_CANDIDATES",
        ),
        (request(candidate("a", NAP), passages=0), "INVALID_REQUEST"),
        (request(candidate("a", NAP, words=-1)), "INVALID_REQUEST"),
    ],
)
async def test_a_bad_request_is_refused_with_its_reason(
    stand_in: Scorer, bad: pb.RerankRequest, reason: str
) -> None:
    async with stub_of(stand_in) as stub:
        assert await reason_of(stub.Rerank(bad, timeout=60)) == reason


async def test_bad_pairs_are_refused_with_their_reason(stand_in: Scorer) -> None:
    pair = pb.SupportPair(claim=NAP, passage=NAP)
    empty = pb.SupportPair(claim=NAP, passage=" ")
    async with stub_of(stand_in) as stub:
        many = pb.ScoreSupportRequest(pairs=[pair] * (MAX_PAIRS + 1))
        assert await reason_of(stub.ScoreSupport(many, timeout=60)) == "TOO_MANY_PAIRS"
        bad = pb.ScoreSupportRequest(pairs=[pair, empty])
        assert await reason_of(stub.ScoreSupport(bad, timeout=60)) == "INVALID_PAIR"


async def test_no_candidates_and_no_pairs_are_answered_with_nothing(stand_in: Scorer) -> None:
    async with stub_of(stand_in) as stub:
        assert not (await stub.Rerank(request(), timeout=60)).kept
        assert not (await stub.ScoreSupport(pb.ScoreSupportRequest(), timeout=60)).supports


def test_a_cross_encoder_in_the_models_folder_is_taken_and_scores_as_its_library_does(
    cross_encoder_folder: Path,
) -> None:
    from sentence_transformers import CrossEncoder

    scorer = open_scorer(Settings(models_dir=cross_encoder_folder.parent))
    assert isinstance(scorer, CrossEncoderScorer)
    pairs = [Pair(QUESTION, NAP), Pair(QUESTION, WING), Pair(QUESTION, LIGHT)]
    expected = CrossEncoder(str(cross_encoder_folder), device="cpu").predict(
        [(pair.claim, pair.text) for pair in pairs], show_progress_bar=False
    )
    assert scorer.support(pairs) == pytest.approx([float(score) for score in expected], abs=1e-5)
    best = max(range(3), key=lambda n: scorer.relevance(pairs)[n])
    assert best == max(range(3), key=lambda n: expected[n])


@pytest.fixture(scope="module")
def small_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of two narrow layers: the export is the same for large ones."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("small") / "cross-encoder"
    config = BertConfig(
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=96,
        max_position_embeddings=256,
        num_labels=1,
        initializer_range=0.2,
    )
    BertForSequenceClassification(config).save_pretrained(str(folder))
    AutoTokenizer.from_pretrained(str(packaged_model())).save_pretrained(str(folder))
    return folder


def test_an_exported_cross_encoder_scores_as_the_original_does_pair_by_pair(
    small_cross_encoder: Path, tmp_path: Path
) -> None:
    line = save_cross_encoder(str(small_cross_encoder), tmp_path, least_correlation=0.9)
    assert line.endswith("with its network"), line
    original = open_scorer(Settings(models_dir=small_cross_encoder.parent))
    exported = open_scorer(Settings(models_dir=tmp_path))
    assert isinstance(original, CrossEncoderScorer)
    assert isinstance(exported, ExportedCrossEncoder)
    assert exported.identity.kind is original.identity.kind
    texts = [NAP, WING, LIGHT, f"{NAP} {LIGHT} " * 30, "", "睡眠"]
    pairs = [Pair(QUESTION, text) for text in texts]
    got, wanted = exported.relevance(pairs), original.relevance(pairs)
    assert np.corrcoef(got, wanted)[0, 1] > 0.95
    # One pair a run: what is scored beside it changes nothing.
    assert exported.relevance(pairs[::-1]) == got[::-1]


class Stuck:
    """A scorer that answers when it is let go."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.go = threading.Event()

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        assert self.go.wait(60)
        return [float(len(pair.text)) for pair in pairs]

    support = relevance


async def test_when_the_time_is_over_the_order_of_the_retrieval_is_kept_and_said_so(
    stand_in: Scorer,
) -> None:
    stuck = Stuck(stand_in.identity)
    asked = request(
        candidate("third", NAP, rank=3),
        candidate("first", WING, rank=1),
        candidate("second", LIGHT, rank=2),
        passages=2,
    )
    asked.time_budget.FromMilliseconds(50)
    async with stub_of(stuck) as stub:
        try:
            reply = await stub.Rerank(asked, timeout=60)
        finally:
            stuck.go.set()
    assert [one.passage_id for one in reply.kept] == ["first", "second"]
    assert not any(one.sentence_scores for one in reply.kept)
    assert reply.scorer.kind == pb.SCORER_KIND_RETRIEVAL_ORDER
    assert "within 0.1 seconds" in reply.degraded


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "/nowhere/cross-encoder"}, "there is no such folder"),
        ({"device": "cuda"}, "the embedding stand-in runs on the CPU only"),
        ({"models_dir": Path("nowhere")}, "python -m deploy.models"),
    ],
)
def test_a_model_that_cannot_be_had_is_said_and_not_replaced(
    changes: dict[str, object], said: str
) -> None:
    settings = Settings.model_validate({"models_dir": models_folder(), **changes})
    with pytest.raises(ModelUnusable, match=said):
        open_scorer(settings)


def test_a_cross_encoder_that_is_damaged_is_said_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "cross-encoder").mkdir()
    (tmp_path / "cross-encoder" / "config.json").write_text("{}")
    with pytest.raises(ModelUnusable, match="cannot be loaded on device 'auto'"):
        open_scorer(Settings(models_dir=tmp_path))


def test_the_stand_in_needs_no_torch() -> None:
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "import services.rerank.servicer\n"
        "from services.rerank.model import open_scorer\n"
        "from services.rerank.scoring import Pair\n"
        "from services.rerank.settings import Settings\n"
        "scorer = open_scorer(Settings(models_dir=Path(sys.argv[1])))\n"
        "scorer.relevance([Pair('a nap', 'a nap')])\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers'}\n"
        "print(json.dumps(sorted(heavy & set(sys.modules))))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(models_folder())],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(result.stdout) == []


def test_the_process_ends_with_one_sentence_when_its_model_is_missing(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "services.rerank"],
        env={"RERANK_MODELS_DIR": str(tmp_path), "RERANK_PORT": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "python -m deploy.models" in result.stderr.splitlines()[-1]
