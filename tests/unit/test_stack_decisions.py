import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.announcement import quoted
from deploy.environment import Surroundings, process_environment
from deploy.index_folder import index_folder
from deploy.mind import KNOWN_PROVIDERS, NEED_A_KEY, NEED_AN_ADDRESS, ChosenMind, read_mind
from deploy.ports import USUAL_PORTS
from deploy.restarts import MOST_DEATHS, WINDOW_S, Deaths
from deploy.zotero_folder import Library
from services.synth import choice
from services.synth.choice import PROVIDERS

LIBRARY = Library(folder=Path("/library"), found="here")
PROCESSES = ("search", "rerank", "synth", "orchestrator", "gateway")


def surroundings(mind: ChosenMind | None = None) -> Surroundings:
    return Surroundings(
        ports=USUAL_PORTS,
        library=LIBRARY,
        index=Path("/index"),
        models=Path("/models"),
        config_file=Path("/config.json"),
        database_url="postgresql+asyncpg://u:p@127.0.0.1:54321/d",
        api_key="the-key",
        token="the-token",
        mind=mind or ChosenMind(),
    )


def test_a_process_dies_five_times_in_a_minute_and_no_more() -> None:
    deaths = Deaths()
    for number in range(1, MOST_DEATHS + 1):
        deaths = deaths.with_another(float(number))
        assert deaths.are_too_many == (number == MOST_DEATHS)


def test_deaths_of_long_ago_are_forgotten() -> None:
    deaths = Deaths()
    for number in range(20):
        deaths = deaths.with_another(number * WINDOW_S / (MOST_DEATHS - 1))
        assert not deaths.are_too_many


def test_each_death_doubles_the_wait() -> None:
    deaths, delays = Deaths(), []
    for number in range(MOST_DEATHS):
        deaths = deaths.with_another(float(number))
        delays.append(deaths.delay_s)
    assert all(later == 2 * earlier for earlier, later in itertools.pairwise(delays))


@pytest.mark.parametrize("name", PROCESSES)
def test_no_process_gets_a_model_key_but_synth(name: str) -> None:
    given = {"PATH": "/bin", "OPENAI_API_KEY": "secret"}
    environment = process_environment(name, given, surroundings())
    assert ("OPENAI_API_KEY" in environment) == (name == "synth")
    assert environment["PATH"] == "/bin"
    assert environment["ZOCRATES_STACK"] == "the-token"


@pytest.mark.parametrize("name", [name for name in PROCESSES if name != "orchestrator"])
def test_only_the_orchestrator_knows_the_database(name: str) -> None:
    environment = process_environment(name, {}, surroundings())
    assert not [value for value in environment.values() if "postgresql" in value]


def test_a_choice_of_the_shell_wins_and_a_fact_of_the_stack_does_not_give_way() -> None:
    given = {"SYNTH_MODEL": "chosen", "SYNTH_PORT": "1"}
    environment = process_environment("synth", given, surroundings())
    assert environment["SYNTH_MODEL"] == "chosen"
    assert environment["SYNTH_PORT"] == str(USUAL_PORTS["synth"])


def test_the_gateway_key_opens_all_libraries_to_the_local_owner() -> None:
    environment = process_environment("gateway", {}, surroundings())
    assert json.loads(environment["GATEWAY_KEYS"]) == [
        {"key": "the-key", "owner": "local", "libraries": None}
    ]


def test_a_chosen_model_is_kept_and_told_to_synth(tmp_path: Path) -> None:
    chosen = ChosenMind(
        provider="openai-compatible", model="org/m:7b", key="secret", address="http://h:1/v1"
    )
    chosen.save(tmp_path / "mind.json")
    assert read_mind(tmp_path / "mind.json") == chosen
    environment = process_environment("synth", {}, surroundings(chosen))
    assert environment["SYNTH_MODEL"] == "openai-compatible:org/m:7b"
    assert environment["SYNTH_API_KEY"] == "secret"
    assert environment["SYNTH_BASE_URL"] == "http://h:1/v1"


@pytest.mark.parametrize("name", [name for name in PROCESSES if name != "synth"])
def test_nobody_but_synth_is_told_the_kept_key(name: str) -> None:
    chosen = ChosenMind(provider="openai", model="m", key="secret")
    environment = process_environment(name, {}, surroundings(chosen))
    assert "secret" not in str(environment)


def test_a_model_that_the_shell_chooses_does_not_get_the_kept_key() -> None:
    chosen = ChosenMind(provider="openai", model="m", key="secret", address="http://h/v1")
    given = {"SYNTH_MODEL": "ollama:llama3.2:3b"}
    environment = process_environment("synth", given, surroundings(chosen))
    assert environment["SYNTH_MODEL"] == "ollama:llama3.2:3b"
    assert "SYNTH_API_KEY" not in environment
    assert "SYNTH_BASE_URL" not in environment


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        (ChosenMind(provider="nowhere"), "name a provider"),
        (ChosenMind(provider="ollama"), "name the model of ollama"),
        (ChosenMind(provider="openai", model="m"), "openai needs a key"),
        (ChosenMind(provider="openai-compatible", model="m"), "--address"),
        (ChosenMind(provider="ollama", model="m", address="h:1"), "must begin with http"),
        (ChosenMind(), ""),
        (ChosenMind(provider="ollama", model="m"), ""),
    ],
)
def test_what_a_choice_lacks_is_said(chosen: ChosenMind, complaint: str) -> None:
    assert complaint in chosen.complaint()
    assert bool(complaint) == bool(chosen.complaint())


@pytest.mark.parametrize("provider", [name for name in KNOWN_PROVIDERS if name != "offline"])
def test_a_choice_says_which_text_leaves_the_machine(provider: str) -> None:
    told = ChosenMind(provider=provider, model="m", key="k", address="http://h/v1").explanation()
    assert f"is sent to {provider}" in told
    assert "passages, titles and authors" in told


def test_the_command_and_synth_know_the_same_providers() -> None:
    assert {*PROVIDERS.values(), "offline"} == set(KNOWN_PROVIDERS)
    assert set(NEED_A_KEY) == choice.NEED_A_KEY
    assert set(NEED_AN_ADDRESS) == choice.NEED_AN_ADDRESS


def test_without_a_choice_the_mind_is_offline(tmp_path: Path) -> None:
    assert read_mind(tmp_path / "mind.json").environment() == {"SYNTH_MODEL": "offline"}


def test_search_is_told_how_the_library_is_read_and_only_search_gets_its_key() -> None:
    library = Library(folder=None, found="-", source="local_api", server="http://127.0.0.1:1")
    given = {"SEARCH_WEB_KEY": "s3cret"}
    told = process_environment("search", given, replace(surroundings(), library=library))
    assert told["SEARCH_SOURCE"] == "local_api"
    assert told["SEARCH_SERVER"] == "http://127.0.0.1:1"
    assert told["SEARCH_LIBRARY_DIR"] == ""
    assert told["SEARCH_WEB_KEY"] == "s3cret"
    for name in PROCESSES:
        if name != "search":
            environment = process_environment(name, given, surroundings())
            assert "s3cret" not in environment.values()


def test_a_library_keeps_its_index_whichever_way_it_is_read() -> None:
    by_api = index_folder(Path("/i"), replace(LIBRARY, source="local_api"))
    assert by_api == index_folder(Path("/i"), LIBRARY)
    nowhere = Library(folder=None, found="-", source="local_api")
    elsewhere = replace(nowhere, server="http://127.0.0.1:1")
    on_the_web = replace(nowhere, source="web_api")
    assert len({index_folder(Path("/i"), one) for one in (nowhere, elsewhere, on_the_web)}) == 3


def test_each_library_has_its_own_index() -> None:
    one = index_folder(Path("/i"), LIBRARY)
    other = index_folder(Path("/i"), Library(folder=Path("/other"), found="there"))
    demo = index_folder(Path("/i"), Library(folder=Path("/demo"), found="-", demo=True))
    assert len({one, other, demo}) == 3
    assert one == index_folder(Path("/i"), LIBRARY)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("plain", "plain"),
        ("What is known?", '"What is known?"'),
        ("costs $5", "'costs $5'"),
        ("/a b/zocrates", '"/a b/zocrates"'),
    ],
)
def test_a_printed_command_can_be_typed_as_it_stands(text: str, word: str) -> None:
    assert quoted(text) == word
