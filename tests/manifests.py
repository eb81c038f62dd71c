"""The manifests as a cluster would see them, and the compose file beside them."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.demo_secrets import demo_secrets
from tests.dockerfile import ROOT

K8S = ROOT / "deploy/k8s"
OVERLAYS = ("demo", "production")
NAME = "app.kubernetes.io/name"
OURS = "zocrates-"

Manifest = Mapping[str, Any]


def kustomized(folder: Path) -> str:
    """What kubectl would apply of the folder; the test is skipped without kubectl."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("NEEDS kubectl, which is not installed, so the manifests were not looked at")
    command = [kubectl, "kustomize", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def rendered(overlay: str) -> str:
    """What kubectl would apply of an overlay."""
    return kustomized(K8S / "overlays" / overlay)


@cache
def objects(overlay: str) -> Sequence[Manifest]:
    """Every object of an overlay."""
    return [one for one in yaml.safe_load_all(rendered(overlay)) if one]


def of_kind(overlay: str, *kinds: str) -> Sequence[Manifest]:
    """The objects of these kinds."""
    return [one for one in objects(overlay) if one["kind"] in kinds]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A Deployment, StatefulSet or Job with its one container."""

    overlay: str
    manifest: Manifest

    @property
    def name(self) -> str:
        """What it and its pods are called."""
        return str(self.manifest["metadata"]["name"])

    @property
    def kind(self) -> str:
        """Which kind of object it is."""
        return str(self.manifest["kind"])

    @property
    def pod(self) -> Manifest:
        """What its pods are made like."""
        spec: Manifest = self.manifest["spec"]["template"]["spec"]
        return spec

    @property
    def labels(self) -> Mapping[str, str]:
        """What its pods are found by."""
        labels: Mapping[str, str] = self.manifest["spec"]["template"]["metadata"]["labels"]
        return labels

    @property
    def container(self) -> Manifest:
        """The container."""
        (container,) = self.pod["containers"]
        spec: Manifest = container
        return spec

    @property
    def grpc_port(self) -> int:
        """Where it is called."""
        ports = {one["name"]: one["containerPort"] for one in self.container["ports"]}
        return int(ports["grpc"])

    @property
    def target(self) -> str:
        """The target of our Dockerfile that it runs; empty for the image of somebody else."""
        image = str(self.container["image"]).rsplit(":", 1)[0]
        return image.removeprefix(OURS) if image.startswith(OURS) else ""

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """What its config maps tell it."""
        maps = {one["metadata"]["name"]: one["data"] for one in of_kind(self.overlay, "ConfigMap")}
        named = [
            maps[source["configMapRef"]["name"]]
            for source in self.container.get("envFrom", ())
            if "configMapRef" in source
        ]
        told = {entry["name"]: entry["value"] for entry in self.container.get("env", ())}
        return {name: value for data in named for name, value in data.items()} | told

    @property
    def secrets(self) -> Sequence[tuple[str, bool]]:
        """The secrets that it is told, and whether it does without."""
        return [
            (source["secretRef"]["name"], bool(source["secretRef"].get("optional")))
            for source in self.container.get("envFrom", ())
            if "secretRef" in source
        ]

    def environment(self, secrets: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
        """All that it is told, with these secrets in the cluster."""
        told = dict(self.settings)
        for name, is_optional in self.secrets:
            assert is_optional or name in secrets, f"{self.name} needs the secret {name!r}"
            told |= secrets.get(name, {})
        return told


def workloads(overlay: str) -> Sequence[Workload]:
    """All that runs."""
    found = of_kind(overlay, "Deployment", "StatefulSet", "Job")
    return [Workload(overlay=overlay, manifest=one) for one in found]


def our_workloads(overlay: str) -> Sequence[Workload]:
    """All that runs of our images."""
    return [one for one in workloads(overlay) if one.target]


@dataclass(frozen=True, order=True, slots=True)
class Arrow:
    """Who may speak with whom, at which port."""

    caller: str
    called: str
    """Empty for anybody, or anywhere."""
    port: int


def arrows_allowed(overlay: str) -> set[Arrow]:
    """What the policies let out and in at once."""
    out = set(_allowed(overlay, "egress", "to"))
    into = set(_allowed(overlay, "ingress", "from"))
    inside = {one.name for one in workloads(overlay)}
    accepted = {Arrow(one.called, one.caller, one.port) for one in into}
    return {one for one in out if one.called not in inside or one in accepted} | {
        one for one in accepted if one.caller in ("", "elsewhere")
    }


def _allowed(overlay: str, direction: str, side: str) -> Iterator[Arrow]:
    for policy in of_kind(overlay, "NetworkPolicy"):
        for rule in policy["spec"].get(direction, ()):
            for one in _selected(overlay, policy["spec"]["podSelector"]):
                for peer in rule.get(side, [{}]):
                    for other in _peers(overlay, peer):
                        for port in rule["ports"]:
                            yield Arrow(one, other, port["port"])


def _peers(overlay: str, peer: Manifest) -> Sequence[str]:
    if "namespaceSelector" in peer:
        return ["elsewhere"]
    return _selected(overlay, peer["podSelector"]) if "podSelector" in peer else [""]


def _selected(overlay: str, selector: Manifest) -> Sequence[str]:
    return [one.name for one in workloads(overlay) if _matches(selector, one.labels)]


def _matches(selector: Manifest, labels: Mapping[str, str]) -> bool:
    exact = selector.get("matchLabels", {})
    listed = selector.get("matchExpressions", ())
    assert all(one["operator"] == "In" for one in listed)
    return all(labels.get(key) == value for key, value in exact.items()) and all(
        labels.get(one["key"]) in one["values"] for one in listed
    )


@cache
def compose() -> Manifest:
    """The compose file."""
    read: Manifest = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    return read


def secrets_for_tests() -> Mapping[str, Mapping[str, str]]:
    """What `python -m deploy.demo_secrets` makes."""
    return demo_secrets("a-password", "a-key-for-the-manifests")
