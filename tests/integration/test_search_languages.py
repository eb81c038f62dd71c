"""Queries in other scripts find the right paper among others of their language."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.search_library import FakeSource, Shelf
from tests.fakes.search_stage import Stage, search_stage
from zocrates.search.v1 import search_pb2 as pb

PAPERS = {
    "JASLEEP": ("睡眠と記憶", "深い睡眠は新しい記憶の固定化を促進する。海馬の活動が重要である。"),
    "JATEA": ("緑茶と注意", "緑茶に含まれるカフェインは注意力を高めるが、眠りを浅くする。"),
    "JANAP": ("看護師の仮眠", "夜勤中の短い仮眠は看護師の疲労を軽減した。"),
    "RUSLEEP": ("Сон и память", "Глубокий сон укрепляет память у пожилых людей и детей."),
    "RUTEA": ("Чай и внимание", "Чай повышает внимание, но нарушает засыпание у взрослых."),
    "RUNAP": (
        "Короткий отдых медсестёр",
        "Дневной отдых снижал усталость медсестёр в ночную смену.",
    ),
    "ARSLEEP": ("النوم والذاكرة", "يعزز النوم العميق تثبيت الذاكرة لدى كبار السن."),
    "ARTEA": ("الشاي والانتباه", "يزيد الشاي من الانتباه ولكنه يؤخر النعاس."),
    "ARNAP": ("قيلولة الممرضات", "خففت القيلولة القصيرة تعب الممرضات في المناوبة الليلية."),
    "KOSLEEP": ("수면과 기억", "깊은 수면은 노인의 기억을 강화한다."),
    "KOTEA": ("차와 주의력", "차는 주의력을 높이지만 잠들기를 늦춘다."),
    "DESLEEP": (
        "Schlaf und Gedächtnis",
        "Der Tiefschlaf festigt die Erinnerungen älterer Menschen.",
    ),
    "ENSLEEP": ("Sleep and memory", "Deep sleep consolidates the memories of older adults."),
    "ENTEA": ("Tea and attention", "Tea raises attention but delays sleep in adults."),
}


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("languages")
    shelf = Shelf(folder)
    for key, (title, abstract) in PAPERS.items():
        shelf.item(key, title, abstract=abstract)
    async with search_stage(folder / "index", FakeSource(records=shelf.records)) as made:
        await made.synced()
        yield made


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("記憶の固定化", "JASLEEP"),
        ("睡眠が記憶に与える影響は何ですか", "JASLEEP"),
        ("カフェイン", "JATEA"),
        ("ｶﾌｪｲﾝ", "JATEA"),
        ("夜勤の看護師の疲労", "JANAP"),
        ("укрепление памяти пожилых", "RUSLEEP"),
        ("Как чай влияет на внимание?", "RUTEA"),
        ("усталость медсестер", "RUNAP"),
        ("تثبيت الذاكرة", "ARSLEEP"),
        ("هل يؤثر الشَّاي على الانتباه؟", "ARTEA"),
        ("تعب الممرضات", "ARNAP"),
        ("노인의 기억", "KOSLEEP"),
        ("주의력", "KOTEA"),
        ("gedachtnis", "DESLEEP"),
        ("consolidating memory in older adults", "ENSLEEP"),
    ],
)
async def test_the_right_paper_comes_first(stage: Stage, query: str, key: str) -> None:
    hits = await stage.hits(query)
    assert hits[0].passage.document.item.key == key
    assert hits[0].bm25_rank == 1


async def test_a_query_of_another_script_asks_words_of_its_own(stage: Stage) -> None:
    found = (await stage.search.SearchCorpus(pb.SearchCorpusRequest(query="память"))).hits
    by_words = [hit.passage.document.item.key for hit in found if hit.HasField("bm25_rank")]
    assert by_words == ["RUSLEEP"]
