"""What the looks of a sentence say about its worth as an answer."""

import re
from collections.abc import Sequence

NUMBER_BONUS = 0.08
MEASURE_BONUS = 0.12
DURATION_BONUS, LASTING_BONUS = 0.12, 0.12
FINDING_BONUS = 0.06
# What a work says of another work is better quoted from that one.
SECOND_HAND_COST = 0.18
AIM_COST = 0.12
# What begins in the middle of a sentence.
FRAGMENT_COST = 0.15
SECTION_BONUS = 0.05

_QUANTITY = re.compile(
    r"\bhow (?:many|much|long|often|old|large|big|far|high|low|few|strong)\b|\bby how\b|"
    r"\bwhat (?:dose|percentage|proportion|share|number|rate|age|duration|fraction)\b|"
    r"\bwie (?:viele?|lange|hoch|oft|groß|stark)\b|\bcombien\b|\bcuánt|\bquant[oiae]\b|\bhoeveel\b|"
    r"\bhoe (?:lang|vaak|groot)\b|сколько|"
    r"多少|几|いくつ|何(?:人|回|時間|年|%|％)|どのくらい|얼마|몇|\bكم\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"\b(?:dose|dosage|brightness|loudness|illuminance|temperature|wavelength|frequency|amplitude|"
    r"how (?:bright|loud|warm|hot|cold|heavy|deep|wide))\b|\bdosis\b|\bwie (?:hell|laut)\b|"
    r"\bquelle dose\b|\bqué dosis\b|剂量|用量",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\d\s?-?(?:[mµμnk]?g|[mµμ]?l|lux|lx|dB|K|°C|°F|[kMG]?Hz|[ckmµμn]?m|IU|nanomet\w+|hertz|"
    r"decibels?|degrees?|毫克)(?!\w)"
)
_DURATION = re.compile(
    r"\bhow (?:long|soon|quickly)\b|\bby how many (?:minutes|hours|days)\b|\bwie lange\b|"
    r"\bcombien de temps\b|\bcuánto tiempo\b|\bquanto tempo\b|\bhoe lang\b|как долго|多久|多长时间|"
    r"どのくらいの時間|何時間|얼마나 오래|كم من الوقت",
    re.IGNORECASE,
)
_SPAN_OF_TIME = re.compile(
    r"\d\s*-?(?:s|ms|min|h|seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|"
    r"minuten?|stunden?|tagen?|wochen?|monaten?|jahren?|secondes?|heures?|jours?|semaines?|mois|"
    r"ans|segundos?|minutos?|horas?|días?|dias?|semanas?|meses|años?|anos?|ore|giorni|settimane|"
    r"mesi|anni|uur|dagen|weken|maanden|jaar|секунд\w*|минут\w*|час\w*|дн\w*|недел\w*)\b|"
    r"\d\s*(?:秒|分|小时|時間|日|天|周|週|月|年|초|분|시간|일|주|개월)",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:within|until|lasted|lasts|took|takes|dauerte|innerhalb|dura|duró|durou|duurde) "
    r"(?:\w+ ){0,2}\d",
    re.IGNORECASE,
)
_SECOND_HAND = re.compile(
    r"\bet al\.|"
    r"\b(?:and|und|et|y|e|en) (?:colleagues|kollegen|collègues|colegas|colleghi|collega's)\b|"
    r"\([A-Z][^()]*\b(?:19|20)\d\d[a-z]?\)|"
    r"\b(?:stud(?:y|ies)|trials?|guidance|reviews?|authors|experiments?|results?) (?:\w+ ){0,3}"
    r"(?:reported|found|concluded|holds?|claimed|suggested|showed|had shown) (?:\w+ )?that\b|"
    r"\bin (?:19|20)\d\d an? (?:study|trial)\b"
)
# What was asked, planned or done, before anything was found.
_AIM = re.compile(
    r"\b(?:we|i) (?:asked|tested|wanted|set out|discuss|looked for|aimed|therefore set|report) |"
    r"\b(?:aim|purpose|objective) of (?:this|the|our)\b|\btook part\b|\bby-\w+ design\b|"
    r"\bwere (?:randomi[sz]ed|recruited|enrolled|invited)\b|"
    r"\b(?:worked|spent) \w+ (?:\w+ )?nights?\b|"
    r"\b(?:wir|ich) (?:fragten|untersuchten|prüften|wollten)\b|\bnous avons (?:cherché|testé)\b|"
    r"\bel objetivo de\b",
    re.IGNORECASE,
)
_MIDDLE = re.compile(r"[a-zà-ÿа-я]{2}")
_STATISTIC = re.compile(r"\d\s?[%％]|\b[pnrd]\s?[<=>≤≥]|\bCI\b|±|\d[.,]\d")
_FOUND_HERE = re.compile(
    r"\b(?:results?|findings|ergebnisse|résultats|resultados|risultati|resultaten|результаты|"
    r"abstract|summary|conclusions?|zusammenfassung|résumé)\b|结果|結果|결과|摘要|要旨",
    re.IGNORECASE,
)
_TOLD_BEFORE = re.compile(
    r"\b(?:introduction|background|related work|einleitung|introducción|introduzione|introdução|"
    r"inleiding|введение)\b|引言|はじめに|서론",
    re.IGNORECASE,
)


def section_bonus(section_path: Sequence[str]) -> float:
    """More for a section of findings, less for one that tells what others found before."""
    titles = " / ".join(section_path)
    return SECTION_BONUS * (bool(_FOUND_HERE.search(titles)) - bool(_TOLD_BEFORE.search(titles)))


class Signs:
    """What a sentence should hold beside words, going by the form of the question."""

    def __init__(self, query: str) -> None:
        self._number = _QUANTITY.search(query) is not None
        self._measure = _MEASURE.search(query) is not None
        self._duration = _DURATION.search(query) is not None

    def bonus(self, text: str) -> float:
        """What the sentence's looks add to its score, or take from it."""
        bonus = FINDING_BONUS if _STATISTIC.search(text) else 0.0
        if self._number and any(letter.isdigit() for letter in text):
            bonus += NUMBER_BONUS
        if self._measure and _UNIT.search(text):
            bonus += MEASURE_BONUS
        if self._duration and _SPAN_OF_TIME.search(text):
            bonus += DURATION_BONUS + (LASTING_BONUS if _LASTING.search(text) else 0.0)
        if _SECOND_HAND.search(text):
            bonus -= SECOND_HAND_COST
        if _AIM.search(text):
            bonus -= AIM_COST
        return bonus - FRAGMENT_COST if _MIDDLE.match(text) else bonus
