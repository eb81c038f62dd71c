"""States of a run: the table is the documentation, and it has no holes."""

import pytest

from services.orchestrator.run import (
    ACTIVE,
    FINISHED,
    NEXT,
    Action,
    State,
    WrongState,
    advance,
    allowed_in,
    sources,
    target,
)

NOT_FINAL = [state for state in State if state is not State.REWOUND]


@pytest.mark.parametrize("action", list(Action))
@pytest.mark.parametrize("state", list(State))
def test_a_move_is_in_the_table_or_raises_with_what_is_allowed(
    state: State, action: Action
) -> None:
    if (state, action) in NEXT:
        assert advance("r", state, action) is NEXT[state, action]
        return
    with pytest.raises(WrongState) as caught:
        advance("r", state, action)
    assert caught.value.state is state
    assert caught.value.allowed == allowed_in(state)
    assert action not in caught.value.allowed


def test_every_state_is_reached_from_a_new_run() -> None:
    reached = {State.QUEUED}
    while more := {after for (before, _), after in NEXT.items() if before in reached} - reached:
        reached |= more
    assert reached == set(State)


@pytest.mark.parametrize("state", NOT_FINAL)
def test_only_a_rewound_run_is_a_dead_end(state: State) -> None:
    assert allowed_in(state)
    assert not allowed_in(State.REWOUND)


@pytest.mark.parametrize("action", list(Action))
def test_every_action_leads_to_one_state_from_somewhere(action: Action) -> None:
    assert {NEXT[state, action] for state in sources(action)} == {target(action)}


def test_a_run_is_active_or_finished() -> None:
    assert set(ACTIVE) | set(FINISHED) == set(State)
    assert not set(ACTIVE) & set(FINISHED)


@pytest.mark.parametrize("state", ACTIVE)
def test_an_active_run_can_be_cancelled(state: State) -> None:
    assert advance("r", state, Action.CANCEL) is State.CANCELLED


def test_a_wrong_move_is_told_with_the_state_and_the_way_out() -> None:
    with pytest.raises(
        WrongState, match="Run 'r' is CANCELLED: complete is not allowed, only retry"
    ):
        advance("r", State.CANCELLED, Action.COMPLETE)
