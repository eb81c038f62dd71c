"""The judged collections that ranking is measured on, as documents, queries and judgments."""

import csv
import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A document's title and text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Documents by id, queries by id, and the relevant documents of each judged query."""

    name: str
    documents: Mapping[str, Text]
    queries: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]


def scifact(split: str, data: Path = DATA) -> Collection:
    """Claims against abstracts; `split` is train or test."""
    folder = data / "scifact"
    documents = {}
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            documents[row["_id"]] = Text(title=row["title"], text=row["text"])
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    relevant: dict[str, set[str]] = defaultdict(set)
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8", newline="") as lines:
        for judged in csv.DictReader(lines, delimiter="\t"):
            relevant[judged["query-id"]].add(judged["corpus-id"])
    queries = {row["_id"]: row["text"] for row in rows if row["split"] == split}
    return _collection(f"scifact {split}", documents, queries, relevant)


def cranfield(data: Path = DATA) -> Collection:
    """Aerodynamics; judgments count the queries by their position in the file."""
    folder = data / "cranfield"
    # The file is a row of elements without a root.
    root = ElementTree.fromstring(f"<all>{(folder / 'cran.all.1400.xml').read_text('utf-8')}</all>")
    documents = {}
    for element in root.iter("doc"):
        title = _line(element.findtext("title"))
        documents[_line(element.findtext("docno"))] = Text(
            title=title,
            # The text repeats the title.
            text=_line(element.findtext("text")).removeprefix(title).strip(),
        )
    topics = ElementTree.parse(folder / "cran.qry.xml").getroot().iter("top")
    queries = {
        str(position): _line(topic.findtext("title"))
        for position, topic in enumerate(topics, start=1)
    }
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "cranqrel.trec.txt").read_text("utf-8").splitlines():
        query, _, document, grade = line.split()
        if int(grade) > 0:
            relevant[query].add(document)
    return _collection("cranfield", documents, queries, relevant)


def cisi(data: Path = DATA) -> Collection:
    """Information science; long questions with some forty relevant documents each."""
    folder = data / "cisi"
    documents = {
        key: Text(title=fields.get("T", ""), text=fields.get("W", ""))
        for key, fields in _smart(folder / "CISI.ALL").items()
    }
    queries = {
        key: " ".join(f"{fields.get('T', '')} {fields.get('W', '')}".split())
        for key, fields in _smart(folder / "CISI.QRY").items()
    }
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "CISI.REL").read_text("utf-8").splitlines():
        query, document = line.split()[:2]
        relevant[query].add(document)
    return _collection("cisi", documents, queries, relevant)


def _collection(
    name: str,
    documents: Mapping[str, Text],
    queries: Mapping[str, str],
    relevant: Mapping[str, set[str]],
) -> Collection:
    return Collection(
        name=name,
        documents=documents,
        queries={key: text for key, text in queries.items() if key in relevant},
        relevant={key: frozenset(ids) for key, ids in relevant.items()},
    )


def _smart(file: Path) -> dict[str, dict[str, str]]:
    """Records of a SMART file: a number, then fields that a dot and a letter begin."""
    records = {}
    for record in re.split(r"(?m)^\.I\s+", file.read_text("utf-8"))[1:]:
        number, *parts = re.split(r"(?m)^\.([TAWXB])\s*$", record)
        fields: dict[str, str] = {}
        for letter, text in zip(parts[::2], parts[1::2], strict=True):
            fields[letter] = _line(f"{fields.get(letter, '')} {text}")
        records[number.strip()] = fields
    return records


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
