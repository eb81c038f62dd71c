"""The dashboard and the alerts speak of numbers that the code counts, and of all of them."""

import json
import re
from collections.abc import Iterator

import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gateway.metrics import Metrics as GatewayMetrics
from services.chassis.metrics import CallMetrics
from services.orchestrator.metrics import RunMetrics
from services.orchestrator.store.census import Numbers
from services.rerank.metrics import RerankMetrics
from services.search.metrics import IndexMetrics
from services.synth.model_metrics import ModelMetrics
from tests.architecture.source_tree import ROOT
from tests.manifests import OVERLAYS, of_kind

DASHBOARD = json.loads((ROOT / "deploy/monitoring/dashboard.json").read_text("utf-8"))
RULES = [
    rule
    for group in yaml.safe_load((ROOT / "deploy/monitoring/alerts.yaml").read_text("utf-8"))[
        "groups"
    ]
    for rule in group["rules"]
]
OPERATIONS = (ROOT / "docs/operations.md").read_text("utf-8")
NAME = re.compile(r"\b(?:zocrates|process)_[a-z_]+")
DERIVED = re.compile(r"_(bucket|sum|count|created)$")


class NoCensus:
    async def take(self) -> Numbers:
        raise AssertionError("nothing is looked up here")


def counted() -> set[str]:
    """The name of every number of ours."""
    registry = CollectorRegistry()
    CallMetrics(registry)
    RunMetrics(registry, NoCensus())
    RerankMetrics(registry)
    IndexMetrics(registry)
    ModelMetrics(registry)
    text = generate_latest(registry).decode() + GatewayMetrics().text()
    families = list(text_string_to_metric_families(text))
    return {
        f"{one.name}_total" if one.type == "counter" else one.name
        for one in families
        if not one.name.endswith("_created")
    }


def asked_by_dashboard() -> set[str]:
    return {
        name
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
        for name in named(target["expr"])
    }


def named(expression: str) -> Iterator[str]:
    return (DERIVED.sub("", name) for name in NAME.findall(expression))


def test_the_dashboard_shows_every_number_and_no_other() -> None:
    ours = {name for name in asked_by_dashboard() if name.startswith("zocrates_")}
    assert ours == counted()


def test_each_panel_has_a_place_and_a_title_of_its_own() -> None:
    panels = DASHBOARD["panels"]
    places = {(one["gridPos"]["x"], one["gridPos"]["y"]) for one in panels}
    assert len(places) == len({one["title"] for one in panels}) == len(panels)


def test_alerts_are_about_numbers_that_are_counted() -> None:
    assert {name for rule in RULES for name in named(rule["expr"])} <= counted()


def test_every_alert_has_a_line_that_says_what_to_do_and_no_line_is_left_over() -> None:
    said = set(re.findall(r"^\| `(Zocrates\w+)` \|", OPERATIONS, re.MULTILINE))
    assert said == {rule["alert"] for rule in RULES}


def test_replicas_are_scaled_by_numbers_that_are_counted() -> None:
    scaled = {
        metric["pods"]["metric"]["name"]
        for overlay in OVERLAYS
        for scaler in of_kind(overlay, "HorizontalPodAutoscaler")
        for metric in scaler["spec"]["metrics"]
        if metric["type"] == "Pods"
    }
    assert scaled
    assert scaled <= counted()
