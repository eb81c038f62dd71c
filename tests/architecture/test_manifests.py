"""What the manifests and the compose file say is what the code has, and the other way round."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from deploy.environment import Surroundings, process_environment
from deploy.mind import ChosenMind
from deploy.programs import PROCESSES
from deploy.zotero_folder import Library
from gateway.app import ROUTERS
from gateway.settings import Settings as Gateway
from services.chassis.settings import ProcessSettings
from services.chassis.telemetry import EXPORTER_VARIABLE
from services.orchestrator.settings import Settings as Orchestrator
from services.rerank.settings import Settings as Rerank
from services.search.settings import Settings as Search
from services.synth.settings import Settings as Synth
from tests.dockerfile import ROOT, TARGETS, images
from tests.manifests import (
    K8S,
    OVERLAYS,
    Arrow,
    Workload,
    arrows_allowed,
    compose,
    kustomized,
    of_kind,
    our_workloads,
    rendered,
    secrets_for_tests,
    workloads,
)

SETTINGS: Mapping[str, type[ProcessSettings]] = {
    "search": Search,
    "rerank": Rerank,
    "synth": Synth,
    "orchestrator": Orchestrator,
    "gateway": Gateway,
}
ADDRESS = re.compile(r"_(target|url)$")
# Of Linux's allocator, of Python, and of the account that object storage is opened with.
PLATFORM = re.compile(r"MALLOC_\w+_|PYTHON\w+|PATH|AWS_\w+|ZOCRATES_STACK")
KUBERNETES = ("1.35.0", "1.36.0", "1.37.0")
OUTSIDE = 443
NAMES = 53

everywhere = pytest.mark.parametrize("overlay", OVERLAYS)


def process_of(target: str) -> str:
    return target.removesuffix("-demo")


def variables(process: str) -> dict[str, str]:
    """The environment variables that a process reads, with the field of each."""
    settings = SETTINGS[process]
    prefix = str(settings.model_config["env_prefix"])
    return {
        str(field.validation_alias or f"{prefix}{name}".upper()): name
        for name, field in settings.model_fields.items()
    }


def unknown(process: str, names: Iterator[str] | Mapping[str, str]) -> set[str]:
    known = {*variables(process), EXPORTER_VARIABLE}
    return {name for name in names if name not in known and not PLATFORM.fullmatch(name)}


def missing(process: str, told: Mapping[str, str]) -> set[str]:
    """What a process has to be told in a cluster and is not: what it requires, and addresses."""
    fields = SETTINGS[process].model_fields
    return {
        variable
        for variable, name in variables(process).items()
        if (fields[name].is_required() or is_inner_address(name)) and not told.get(variable)
    }


def is_inner_address(field: str) -> bool:
    """Whether a setting says where another part of the installation is."""
    return bool(ADDRESS.search(field)) and field != "base_url"


def told(workload: Workload) -> dict[str, str]:
    """All that the container finds in its environment."""
    given = workload.environment({**secrets_for_tests(), **outside_secrets(workload.overlay)})
    return {**images()[workload.target].environment, **given}


def outside_secrets(overlay: str) -> dict[str, dict[str, str]]:
    if overlay == "demo":
        return {}
    url = "postgresql+asyncpg://zocrates:secret@postgres.databases.svc:5432/zocrates"
    return {"orchestrator-database": {"ORCHESTRATOR_DATABASE_URL": url}}


@everywhere
@pytest.mark.parametrize("version", KUBERNETES)
def test_the_manifests_are_valid_for_the_supported_versions(overlay: str, version: str) -> None:
    assert validated(rendered(overlay), version) == ("", 0)


def test_the_validation_sees_a_field_that_does_not_exist() -> None:
    broken = rendered("demo").replace("terminationGracePeriodSeconds", "terminationGraceSeconds")
    assert validated(broken, KUBERNETES[0])[1] != 0


def validated(manifests: str, version: str) -> tuple[str, int]:
    program = Path(sysconfig.get_path("scripts")) / "kubernetes-validate"
    done = subprocess.run(
        [program, "--strict", "--quiet", "-k", version, "/dev/stdin"],
        input=manifests,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout + done.stderr, done.returncode


def test_with_tls_every_process_has_its_identity_and_is_asked_for_health_in_plain(
    tmp_path: Path,
) -> None:
    k8s = os.path.relpath(K8S, tmp_path)
    (tmp_path / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        f"resources: [{k8s}/base, {k8s}/search/many]\ncomponents: [{k8s}/tls, {k8s}/hardened]\n"
    )
    manifests = kustomized(tmp_path)
    assert validated(manifests, KUBERNETES[-1]) == ("", 0)
    deployments = [one for one in yaml.safe_load_all(manifests) if one["kind"] == "Deployment"]
    assert len(deployments) == 6
    for one in deployments:
        name, pod = one["metadata"]["name"], one["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        (told_here,) = container["env"]
        process = name.removesuffix("-writer")
        assert variables(process)[told_here["name"]] == "tls_folder"
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert mounts["tls"] == told_here["value"]
        assert {"name": "tls", "secret": {"secretName": f"{name}-tls"}} in pod["volumes"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert container[probe]["httpGet"]["path"] == "/health"


@everywhere
def test_every_variable_is_one_that_the_process_reads(overlay: str) -> None:
    wrong = {
        workload.name: unknown(process_of(workload.target), told(workload))
        for workload in our_workloads(overlay)
    }
    assert not {name: names for name, names in wrong.items() if names}


@everywhere
def test_every_process_runs_and_is_told_what_it_needs(overlay: str) -> None:
    deployed = [one for one in our_workloads(overlay) if one.kind == "Deployment"]
    assert {process_of(one.target) for one in deployed} == set(PROCESSES)
    without = {one.name: missing(process_of(one.target), told(one)) for one in deployed}
    assert not {name: names for name, names in without.items() if names}


@everywhere
def test_every_target_and_module_exists(overlay: str) -> None:
    for workload in our_workloads(overlay):
        assert workload.target in TARGETS
        command = workload.container.get("command", images()[workload.target].command)
        assert command[:2] == ("python", "-m") or command[:2] == ["python", "-m"]
        module = ROOT / command[2].replace(".", "/")
        assert module.with_suffix(".py").is_file() or (module / "__main__.py").is_file()


@everywhere
def test_ports_are_those_that_the_processes_listen_on(overlay: str) -> None:
    services = {one["metadata"]["name"]: one["spec"] for one in of_kind(overlay, "Service")}
    for workload in our_workloads(overlay):
        if workload.kind == "Job":
            continue
        image, process = images()[workload.target], process_of(workload.target)
        (port,) = image.ports
        assert SETTINGS[process].model_fields["port"].default == port
        named = {one["name"]: one["containerPort"] for one in workload.container["ports"]}
        assert port in named.values()
        (offered,) = services[workload.name]["ports"]
        target = offered.get("targetPort", offered["port"])
        assert named.get(target, target) == port
        # Callers balance by themselves, which needs the address of every pod.
        assert (services[workload.name].get("clusterIP") == "None") == (process != "gateway")


@everywhere
def test_probes_ask_what_is_answered(overlay: str) -> None:
    paths = {getattr(route, "path", "") for router in ROUTERS for route in router.routes}
    for workload in our_workloads(overlay):
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            if workload.kind == "Job":
                continue
            probe = workload.container[kind]
            if "grpc" in probe:
                assert probe["grpc"]["port"] in images()[workload.target].ports
            else:
                assert probe["httpGet"]["path"] in paths


@everywhere
def test_the_policies_allow_the_arrows_that_settings_make_and_no_other(overlay: str) -> None:
    allowed = {one for one in arrows_allowed(overlay) if one.port not in (NAMES, OUTSIDE)}
    watched = {Arrow("elsewhere", name, port) for name, port in status_ports(overlay)}
    assert allowed == set(arrows_of_settings(overlay)) | watched | {Arrow("", "gateway", 8080)}


def status_ports(overlay: str) -> Iterator[tuple[str, int]]:
    """Where Prometheus reads, by the settings; the container says the same."""
    for workload in our_workloads(overlay):
        for variable, value in told(workload).items():
            if variables(process_of(workload.target)).get(variable) == "status_port":
                named = {one["name"]: one["containerPort"] for one in workload.container["ports"]}
                assert named["status"] == int(value)
                yield workload.name, int(value)


def arrows_of_settings(overlay: str) -> Iterator[Arrow]:
    inside = {one.name for one in workloads(overlay)}
    for workload in our_workloads(overlay):
        for variable, value in told(workload).items():
            field = variables(process_of(workload.target)).get(variable, "")
            if is_inner_address(field):
                host, port = re.search(r"([\w.-]+):(\d+)(?:/\w+)?$", value).groups()  # type: ignore[union-attr]
                yield Arrow(workload.name, host if host in inside else "", int(port))


def test_every_grpc_process_shows_its_numbers() -> None:
    for overlay in OVERLAYS:
        shown = {name for name, _ in status_ports(overlay)}
        deployed = {one.name for one in our_workloads(overlay) if one.kind == "Deployment"}
        assert shown == deployed - {"gateway"}


def test_only_what_speaks_with_the_outside_may() -> None:
    outside = {one.caller for one in arrows_allowed("production") if one.port == OUTSIDE}
    assert outside == {"search", "search-writer", "synth"}
    assert not [one for one in arrows_allowed("demo") if one.port == OUTSIDE]


@everywhere
def test_every_pod_is_an_ordinary_user_without_privileges(overlay: str) -> None:
    for workload in workloads(overlay):
        assert workload.pod["securityContext"]["runAsNonRoot"]
        assert not workload.pod["automountServiceAccountToken"]
        container = workload.container["securityContext"]
        assert container["readOnlyRootFilesystem"]
        assert container["capabilities"] == {"drop": ["ALL"]}
        assert workload.container["resources"]["requests"]
        assert workload.container["resources"]["limits"]["memory"]


@everywhere
def test_a_pod_is_given_longer_to_stop_than_its_work_in_hand(overlay: str) -> None:
    for workload in our_workloads(overlay):
        if workload.kind == "Deployment":
            process = process_of(workload.target)
            drain = float(told(workload)[f"{process.upper()}_DRAIN_S"])
            farewell = workload.container["lifecycle"]["preStop"]["sleep"]["seconds"]
            assert workload.pod["terminationGracePeriodSeconds"] > farewell + drain


@everywhere
def test_what_has_replicas_keeps_one_when_nodes_are_emptied(overlay: str) -> None:
    kept = {one["metadata"]["name"] for one in of_kind(overlay, "PodDisruptionBudget")}
    replicated = {
        one.name
        for one in workloads(overlay)
        if one.kind == "Deployment" and one.manifest["spec"]["replicas"] > 1
    }
    assert kept == replicated


@everywhere
def test_settings_name_only_folders_that_are_there(overlay: str) -> None:
    for workload in our_workloads(overlay):
        mounts = {one["mountPath"] for one in workload.container.get("volumeMounts", ())}
        copied = {one.place for one in images()[workload.target].copies()}
        places = [value for name, value in told(workload).items() if is_place(name, value)]
        assert not [
            place
            for place in places
            if not any(place == one or place.startswith(f"{one}/") for one in mounts | copied)
        ]


def is_place(name: str, value: str) -> bool:
    return value.startswith("/") and name.startswith(("SEARCH_", "RERANK_", "ORCHESTRATOR_"))


def test_compose_tells_each_process_what_it_needs_and_nothing_else() -> None:
    services = compose()["services"]
    assert set(PROCESSES) <= set(services)
    for process in PROCESSES:
        environment = services[process].get("environment", {})
        target = services[process]["build"]["target"]
        assert target in TARGETS
        assert not unknown(process, environment)
        assert not missing(process, {**images()[target].environment, **environment})


def test_compose_names_services_and_ports_that_are_there() -> None:
    services = compose()["services"]
    ports = {name: SETTINGS[name].model_fields["port"].default for name in PROCESSES}
    ports |= {"nats": 4222, "postgres": 5432}
    for service in services.values():
        for value in service.get("environment", {}).values():
            for host, port in re.findall(r"(?:[/@])([a-z]+):(\d+)", str(value)):
                assert ports[host] == int(port)


def test_the_local_stack_sets_only_what_processes_read() -> None:
    surroundings = Surroundings(
        ports=dict.fromkeys((*PROCESSES, "nats", "postgres"), 1),
        library=Library(folder=Path("/library"), found="named", base_folder=Path("/papers")),
        index=Path("/index"),
        models=Path("/models"),
        config_file=Path("/config.json"),
        database_url="postgresql+asyncpg://",
        api_key="key",
        token="token",
        mind=ChosenMind(provider="openai", model="m", key="k", address="http://localhost"),
    )
    for process in PROCESSES:
        environment = process_environment(process, {}, surroundings)
        assert not unknown(process, environment)
        assert not missing(process, environment)


def test_the_secrets_for_trying_are_new_each_time() -> None:
    command = [sys.executable, "-m", "deploy.demo_secrets"]
    outputs = {
        subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
        for _ in range(2)
    }
    assert len(outputs) == 2
