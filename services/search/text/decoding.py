"""Bytes to text: by what the file says of itself, else by what it looks like."""

import codecs
import re

from charset_normalizer import from_bytes

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
DECLARED = re.compile(
    rb"<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)|<meta[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)",
    re.IGNORECASE,
)
# Browsers look no farther for a declaration either.
HEAD = 4096
# What the web means by these names is more than what they say.
WIDER = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# So much is looked at to guess.
SAMPLE = 200_000
LETTERS, ACCENTED = re.compile(rb"[A-Za-z]"), re.compile(rb"[\xc0-\xff]")
KANA = re.compile("[\u3041-\u30ff]")
FEW = 0.25


def decoded(data: bytes, *, is_markup: bool) -> str:
    """The text; a byte that means nothing becomes a replacement character."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    if is_markup and (declared := _declared(data)) is not None:
        return data.decode(declared, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # One bad byte in a long text does not make it another encoding.
        if error.start > SAMPLE and data[: error.start].isascii() is False:
            return data.decode("utf-8", "replace")
    return data.decode(_guessed(data[:SAMPLE]), "replace")


def _guessed(sample: bytes) -> str:
    """The encoding that a text without declaration is in, most likely."""
    letters = len(LETTERS.findall(sample))
    others = len(ACCENTED.findall(sample))
    if others < FEW * (letters + others):
        return "cp1252"  # letters with accents among plain ones
    for name in ("cp932", "euc_jp"):
        text = sample.decode(name, "ignore")
        if len(KANA.findall(text)) > FEW * len(text):
            return name
    best = from_bytes(sample).best()
    return best.encoding if best is not None else "cp1252"


def _declared(data: bytes) -> str | None:
    found = DECLARED.search(data[:HEAD])
    if found is None:
        return None
    try:
        name = codecs.lookup((found[1] or found[2]).decode("ascii")).name
    except LookupError:
        return None
    if name.startswith(("utf-16", "utf-32")):
        return "utf-8"  # the declaration could not be read if it were true
    return WIDER.get(name, name)


def is_binary(data: bytes) -> bool:
    """Whether the bytes are no text in any encoding."""
    if data.startswith(tuple(mark for mark, _ in MARKS)):
        return False
    head = data[:SAMPLE]
    controls = sum(
        head.count(bytes([code])) for code in (*range(9), *range(14, 27), *range(28, 32))
    )
    return controls > len(head) // 100
