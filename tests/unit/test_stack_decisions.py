import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.announcement import quoted
from deploy.environment import Surroundings, process_environment
from deploy.index_folder import index_folder
from deploy.mind import ChosenMind, read_mind
from deploy.ports import USUAL_PORTS
from deploy.restarts import MOST_DEATHS, WINDOW_S, Deaths
from deploy.zotero_folder import Library

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


def test_a_mind_that_this_version_lacks_is_kept_but_neither_used_nor_told_its_key(
    tmp_path: Path,
) -> None:
    chosen = ChosenMind(provider="openai", model="some-model", key="secret")
    chosen.save(tmp_path / "mind.json")
    assert read_mind(tmp_path / "mind.json") == chosen
    environment = process_environment("synth", {}, surroundings(chosen))
    assert environment["SYNTH_MODEL"] == "offline"
    assert "secret" not in environment.values()
    assert "offline mind only" in chosen.explanation()
    assert "would be sent" in chosen.explanation()


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
