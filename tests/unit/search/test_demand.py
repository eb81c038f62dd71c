"""What is asked for most gets its vectors first."""

from services.search.demand import MOST_NAMES, Demand


def first(demand: Demand, *documents: str) -> list[str]:
    return demand.most_asked_first(documents, lambda one: one[0])


def test_what_is_asked_most_comes_first_and_the_rest_keeps_its_order() -> None:
    demand = Demand()
    assert first(demand, "c1", "a1", "b1", "a2") == ["c1", "a1", "b1", "a2"]
    demand.note(["a", "a", "b"])
    demand.note(["b"])
    assert first(demand, "c1", "a1", "b1", "a2") == ["b1", "a1", "a2", "c1"]


def test_a_search_that_lacked_no_vector_changes_nothing() -> None:
    demand = Demand()
    before = demand.version
    demand.note([])
    assert demand.version == before
    demand.note(["a"])
    assert demand.version != before


def test_names_are_not_collected_for_ever() -> None:
    demand = Demand()
    demand.note(["a"])
    demand.note(["a"])
    demand.note(f"other{n}" for n in range(MOST_NAMES))
    assert first(demand, "x1", "a1") == ["a1", "x1"]
