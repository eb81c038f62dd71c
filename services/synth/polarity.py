"""Hints that two sentences on one topic point in opposite directions; never a verdict."""

import re

_DENIAL = re.compile(
    r"\b(?:not?|neither|nor|fail(?:ed|s)?|unrelated|absence|lack(?:ed|s)?|cannot|n't|"
    r"kein\w*|nicht|weder|aucune?|pas|ningun[oa]?|ningún|nessun[oa]?|não|nenhum\w*|"
    r"niet|geen|не|нет)\b|n't\b|[没沒未无無]|なかった|ない|않|없|لم|لا",
    re.IGNORECASE,
)
_UP = re.compile(
    r"\b(?:increas\w+|higher|improv\w+|rais\w+|longer|faster|more|better|gain\w*|benefit\w*|"
    r"erhöh\w+|höher\w*|verbesser\w+|mehr|augment\w+|améli\w+|aument\w+|mejor\w*|miglior\w+|"
    r"melhor\w*|verhoog\w+|verbeter\w+|увелич\w+|повы\w+|улучш\w+)\b|增加|提高|改善|升高|増加|向上|증가|향상",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:decreas\w+|lower\w*|reduc\w+|declin\w+|shorter|slower|less|fewer|worse\w*|impair\w+|"
    r"senk\w+|niedriger\w*|verringer\w+|verschlechter\w+|weniger|diminu\w+|rédui\w+|disminu\w+|"
    r"reduj\w+|peor\w*|diminui\w*|peggior\w+|pior\w*|verlaag\w+|vermind\w+|сниж\w+|уменьш\w+|"
    r"ухудш\w+)\b|减少|降低|下降|減少|低下|감소|저하",
    re.IGNORECASE,
)
# How much of the shorter sentence the other one must share.
LEAST_SHARED, LEAST_SHARE = 4, 0.5


def may_disagree(
    first: str, second: str, first_stems: frozenset[str], second_stems: frozenset[str]
) -> bool:
    """Whether the sentences share their topic while only one denies, or one rises and one falls."""
    shared = len(first_stems & second_stems)
    if shared < LEAST_SHARED or shared < LEAST_SHARE * min(len(first_stems), len(second_stems)):
        return False
    if bool(_DENIAL.search(first)) != bool(_DENIAL.search(second)):
        return True
    return _direction(first) * _direction(second) < 0


def _direction(text: str) -> int:
    return bool(_UP.search(text)) - bool(_DOWN.search(text))
