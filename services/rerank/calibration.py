"""What was measured of a model as a judge of support, and whether it may call a claim verified."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from services.rerank.scoring import Identity, Pair, Scorer

# Of what a judge calls supported, so much has to be; of contradictions, so few may be called so.
LEAST_PRECISION = 0.90
MOST_CONTRADICTIONS = 0.10
# A scale on which every judge's threshold is the same.
THRESHOLD = 0.5
FILE = "calibrations.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A model's figures on training data, at the threshold that was chosen there."""

    model: str
    source: str
    threshold: float
    precision: float
    """Of the sentences that it called supporting, how many were."""
    recall: float
    """Of the supporting sentences, how many it called so."""
    contradictions: float
    """Of the contradicting sentences, how many it called supporting."""
    without_evidence: float
    """Of the claims that their paper says nothing of, how many it called supported."""

    @property
    def passed(self) -> bool:
        """Whether the model may say that a passage carries a claim."""
        return self.precision >= LEAST_PRECISION and self.contradictions <= MOST_CONTRADICTIONS


class CalibratedScorer:
    """A scorer that knows how far it can be trusted; a passed one's threshold is at one half."""

    def __init__(self, scorer: Scorer, calibration: Calibration) -> None:
        self._scorer = scorer
        self._calibration = calibration
        self.identity = _told(scorer.identity, calibration)

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        """The scorer's own."""
        return self._scorer.relevance(pairs)

    def support(self, pairs: Sequence[Pair]) -> list[float]:
        """The scorer's own; stretched so that the calibrated threshold is one half."""
        scores = self._scorer.support(pairs)
        if not self._calibration.passed:
            return scores
        return [stretched(score, self._calibration.threshold) for score in scores]


def stretched(score: float, threshold: float) -> float:
    """The score on a scale from 0 to 1 with the threshold at one half."""
    if score < threshold:
        return THRESHOLD * score / threshold
    if threshold >= 1:
        return 1.0
    return THRESHOLD + (1 - THRESHOLD) * (score - threshold) / (1 - threshold)


def calibrated(scorer: Scorer, calibrations: Iterable[Calibration]) -> Scorer:
    """The scorer with its calibration, where its model has one."""
    for calibration in calibrations:
        if calibration.model == scorer.identity.model:
            return CalibratedScorer(scorer, calibration)
    return scorer


def load_calibrations() -> list[Calibration]:
    """The calibrations that were measured with `make bench-support` and kept."""
    kept = json.loads((files("services.rerank") / FILE).read_text(encoding="utf-8"))
    return [Calibration(**values) for values in kept]


def _told(identity: Identity, calibration: Calibration) -> Identity:
    verdict = "passed" if calibration.passed else "has not passed"
    return replace(
        identity,
        calibrated=calibration.passed,
        description=(
            f"{identity.description} As a judge of support it {verdict} its calibration on "
            f"{calibration.source}: of what it calls supported {calibration.precision:.0%} is, and "
            f"{calibration.contradictions:.0%} of contradictions are called supported."
        ),
    )
