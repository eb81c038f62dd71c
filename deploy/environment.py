"""The environment of each process of the local stack; pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.mind import ChosenMind
from deploy.ports import HOST
from deploy.zotero_folder import WEB_KEY_VARIABLE, Library

TOKEN_VARIABLE = "ZOCRATES_STACK"
CHOOSABLE = ("SYNTH_MODEL", "ORCHESTRATOR_CONFIG_FILE")
MEANS_OF_THE_MIND = ("SYNTH_API_KEY", "SYNTH_BASE_URL")
# Keys of language models that a shell may carry are synth's business only.
KEY_SUFFIXES = ("_API_KEY", "_API_TOKEN")
# Linux's allocator would keep the memory of the largest batch of a model for ever; told what is
# large, it gives it back. Other systems do not know the names.
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": str(4 << 20), "MALLOC_TRIM_THRESHOLD_": str(1 << 20)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the processes are told about each other and about this machine."""

    ports: Mapping[str, int]
    library: Library
    index: Path
    models: Path
    config_file: Path
    database_url: str
    api_key: str
    token: str
    mind: ChosenMind


def target(ports: Mapping[str, int], name: str) -> str:
    """Where a gRPC process is called."""
    return f"{HOST}:{ports[name]}"


def process_environment(
    name: str, given: Mapping[str, str], surroundings: Surroundings
) -> dict[str, str]:
    """The whole environment of a process: the given one, and what the process needs to know."""
    own = _own_variables(name, surroundings)
    if given.get("SYNTH_MODEL", own.get("SYNTH_MODEL")) != own.get("SYNTH_MODEL"):
        # The kept key and address belong to the kept choice and to no other provider.
        own = {key: value for key, value in own.items() if key not in MEANS_OF_THE_MIND}
    inherited = {key: value for key, value in given.items() if _may_know(name, key)}
    # What a shell says about these is a choice; the other variables are facts of this stack.
    chosen = {key: given[key] for key in CHOOSABLE if key in own and given.get(key)}
    return {
        **inherited,
        **own,
        **chosen,
        TOKEN_VARIABLE: surroundings.token,
        "PYTHONUNBUFFERED": "1",
    }


def _may_know(name: str, variable: str) -> bool:
    """Whether a process may inherit a variable: a key goes to whoever uses it, nobody else."""
    if variable == WEB_KEY_VARIABLE:
        return name == "search"
    return name == "synth" or not is_model_key(variable)


def is_model_key(variable: str) -> bool:
    """Whether a variable looks like the key of a language model."""
    return variable.upper().endswith(KEY_SUFFIXES)


def _own_variables(name: str, it: Surroundings) -> dict[str, str]:
    nats = f"nats://{target(it.ports, 'nats')}"
    match name:
        case "search":
            return {
                "SEARCH_HOST": HOST,
                "SEARCH_PORT": str(it.ports["search"]),
                "SEARCH_INDEX_URI": str(it.index),
                "SEARCH_SOURCE": it.library.source,
                "SEARCH_SERVER": it.library.server,
                "SEARCH_LIBRARY_DIR": str(it.library.folder or ""),
                "SEARCH_SOURCE_CHANGEABLE": "true",
                "SEARCH_DEMO": "true" if it.library.demo else "false",
                "SEARCH_MODELS_DIR": str(it.models),
                **GIVE_BACK,
                **({"SEARCH_BASE_FOLDER": str(base)} if (base := it.library.base_folder) else {}),
            }
        case "rerank":
            return {
                "RERANK_HOST": HOST,
                "RERANK_PORT": str(it.ports["rerank"]),
                "RERANK_MODELS_DIR": str(it.models),
                **GIVE_BACK,
            }
        case "synth":
            return {
                "SYNTH_HOST": HOST,
                "SYNTH_PORT": str(it.ports["synth"]),
                **it.mind.environment(),
            }
        case "orchestrator" | "migrate":
            return {
                "ORCHESTRATOR_HOST": HOST,
                "ORCHESTRATOR_PORT": str(it.ports["orchestrator"]),
                "ORCHESTRATOR_DATABASE_URL": it.database_url,
                "ORCHESTRATOR_NATS_URL": nats,
                "ORCHESTRATOR_SEARCH_TARGET": target(it.ports, "search"),
                "ORCHESTRATOR_RERANK_TARGET": target(it.ports, "rerank"),
                "ORCHESTRATOR_SYNTH_TARGET": target(it.ports, "synth"),
                "ORCHESTRATOR_CONFIG_FILE": str(it.config_file),
            }
        case "gateway":
            key = {"key": it.api_key, "owner": "local", "libraries": None}
            return {
                "GATEWAY_HOST": HOST,
                "GATEWAY_PORT": str(it.ports["gateway"]),
                "GATEWAY_NATS_URL": nats,
                "GATEWAY_ORCHESTRATOR_TARGET": target(it.ports, "orchestrator"),
                "GATEWAY_SEARCH_TARGET": target(it.ports, "search"),
                "GATEWAY_KEYS": json.dumps([key]),
            }
    return {}
