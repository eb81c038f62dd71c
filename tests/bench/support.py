"""How far a judge of support can be trusted, on SciFact's gold sentences: `make bench-support`.

The threshold is chosen on the training claims and reported on the test claims. `--write` keeps the
calibration, which the rerank process reads.
"""

import argparse
import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deploy.model_folder import models_folder
from services.rerank import calibration as kept
from services.rerank.calibration import Calibration, load_calibrations
from services.rerank.model import open_scorer
from services.rerank.scoring import Pair, Scorer
from services.rerank.settings import Settings
from tests.bench.machine import machine
from tests.bench.retrieval_data import DATA, scifact

FILE = Path(kept.__file__).with_name(kept.FILE)
SOURCE = "SciFact's training claims and gold sentences"
# A judge that calls next to nothing supported proves nothing.
LEAST_RECALL = 0.05
STEPS = np.round(np.arange(0.01, 1.0, 0.01), 2)
BATCH = 256

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The scores of a split's supporting and contradicting gold sentences, and, for claims that
    their paper says nothing of, of the sentence that scores best."""

    support: Scores
    contradict: Scores
    without: Scores

    def at(self, threshold: float, model: str, source: str) -> Calibration:
        """The figures at a threshold."""
        right, wrong = (
            int((self.support >= threshold).sum()),
            int((self.contradict >= threshold).sum()),
        )
        silent = int((self.without >= threshold).sum())
        return Calibration(
            model=model,
            source=source,
            threshold=threshold,
            # All that is called supported counts, also where the paper says nothing.
            precision=right / max(1, right + wrong + silent),
            recall=right / len(self.support),
            contradictions=wrong / len(self.contradict),
            without_evidence=silent / len(self.without),
        )


def judged(split: str, scorer: Scorer) -> Judged:
    """Score a split."""
    claims = scifact(split).queries
    sentences = _sentences()
    by_label: dict[str, list[Pair]] = defaultdict(list)
    evident = set()
    for row in _evidence(split):
        numbers = [int(number) for number in row["sentence-indexes"].split(",")]
        text = " ".join(sentences[row["corpus-id"]][number] for number in numbers)
        by_label[row["label"]].append(Pair(claims[row["query-id"]], text))
        evident.add(row["query-id"])
    silent = [
        [
            Pair(claims[claim], sentence)
            for document in sorted(documents)
            for sentence in sentences[document]
        ]
        for claim, documents in scifact(split).relevant.items()
        if claim not in evident
    ]
    scores = iter(_scored(scorer, [pair for pairs in silent for pair in pairs]))
    return Judged(
        support=np.array(_scored(scorer, by_label["SUPPORT"])),
        contradict=np.array(_scored(scorer, by_label["CONTRADICT"])),
        without=np.array([max(next(scores) for _ in pairs) for pairs in silent]),
    )


def chosen(train: Judged, model: str) -> Calibration:
    """The lowest threshold that passes; else the one with the best precision of use."""
    figures = [train.at(float(step), model, SOURCE) for step in STEPS]
    useful = [one for one in figures if one.recall >= LEAST_RECALL]
    passing = [one for one in useful if one.passed]
    return passing[0] if passing else max(useful, key=lambda one: one.precision)


def _sentences() -> Mapping[str, Sequence[str]]:
    found = {}
    with gzip.open(DATA / "scifact" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            starts = [*row["sent_offsets"], len(row["text"])]
            found[row["_id"]] = [row["text"][start:end].strip() for start, end in pairwise(starts)]
    return found


def _evidence(split: str) -> Iterable[Mapping[str, str]]:
    with (DATA / "scifact" / "evidence.tsv").open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines, delimiter="\t") if row["split"] == split]


def _scored(scorer: Scorer, pairs: Sequence[Pair]) -> list[float]:
    return [
        score
        for start in range(0, len(pairs), BATCH)
        for score in scorer.support(pairs[start : start + BATCH])
    ]


def report(split: str, scores: Judged, figures: Calibration) -> None:
    """Print a split's figures."""
    counts = (len(scores.support), len(scores.contradict), len(scores.without))
    print(f"\n{split}: {counts[0]} supporting, {counts[1]} contradicting, {counts[2]} without")
    print(f"  threshold                               {figures.threshold:.2f}")
    print(f"  called supported and is (precision)     {figures.precision:.3f}")
    print(f"  supporting, called supported (recall)   {figures.recall:.3f}")
    print(f"  contradicting, called supported         {figures.contradictions:.3f}")
    print(f"  without evidence, called supported      {figures.without_evidence:.3f}", flush=True)


def main() -> None:
    """Calibrate the configured scorer and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the calibration")
    parser.add_argument("--model", default="auto", help="a cross-encoder; else what rerank takes")
    options = parser.parse_args()
    print(machine())
    scorer = open_scorer(Settings(models_dir=models_folder(), model=options.model))
    model = scorer.identity.model
    train = judged("train", scorer)
    calibration = chosen(train, model)
    print(f"{model}: {'passes' if calibration.passed else 'DOES NOT PASS'} its calibration")
    report("train", train, calibration)
    test = judged("test", scorer)
    report("test", test, test.at(calibration.threshold, model, "test"))
    if options.write:
        others = [one for one in load_calibrations() if one.model != model]
        entries = [_rounded(asdict(one)) for one in (*others, calibration)]
        FILE.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")


def _rounded(values: dict[str, object]) -> dict[str, object]:
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in values.items()
    }


if __name__ == "__main__":
    main()
