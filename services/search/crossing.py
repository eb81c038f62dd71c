"""Between which languages an embedding model finds meaning, measured on sentences of known meaning.

What a model's name or card says need not be true of these weights; a translation that lies near
its original shows it.
"""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from services.search.encoder import Vectors
from services.search.encoder_lanes import EncoderLanes

ORIGINAL = "en"
# The packaged English model reaches 0.1 to 0.25 here, where names and numbers are shared; models
# of many languages reach 0.8.
NEAR_ENOUGH = 0.5

# The same four sentences in each language, with few words that two languages share.
SENTENCES: Mapping[str, tuple[str, str, str, str]] = {
    "en": (
        "The nurses slept badly after working at night.",
        "The glacier has lost half of its ice since 1950.",
        "Most readers bought the book in a small shop.",
        "The king lost the war because his soldiers were hungry.",
    ),
    "de": (
        "Die Pflegekräfte schliefen nach der Nachtarbeit schlecht.",
        "Der Gletscher hat seit 1950 die Hälfte seines Eises verloren.",
        "Die meisten Leser kauften das Buch in einem kleinen Laden.",
        "Der König verlor den Krieg, weil seine Soldaten hungrig waren.",
    ),
    "fr": (
        "Les infirmières ont mal dormi après le travail de nuit.",
        "Le glacier a perdu la moitié de sa glace depuis 1950.",
        "La plupart des lecteurs ont acheté le livre dans une petite boutique.",
        "Le roi a perdu la guerre parce que ses soldats avaient faim.",
    ),
    "es": (
        "Las enfermeras durmieron mal después de trabajar de noche.",
        "El glaciar ha perdido la mitad de su hielo desde 1950.",
        "La mayoría de los lectores compraron el libro en una tienda pequeña.",
        "El rey perdió la guerra porque sus soldados tenían hambre.",
    ),
    "it": (
        "Le infermiere hanno dormito male dopo il lavoro notturno.",
        "Dal 1950 il ghiacciaio ha perso metà del suo ghiaccio.",
        "La maggior parte dei lettori ha comprato il libro in un piccolo negozio.",
        "Il re perse la guerra perché i suoi soldati avevano fame.",
    ),
    "pt": (
        "As enfermeiras dormiram mal depois de trabalhar à noite.",
        "A geleira perdeu metade do seu gelo desde 1950.",
        "A maioria dos leitores comprou o livro numa loja pequena.",
        "O rei perdeu a guerra porque os seus soldados tinham fome.",
    ),
    "nl": (
        "De verpleegkundigen sliepen slecht na het werken in de nacht.",
        "De gletsjer heeft sinds 1950 de helft van zijn ijs verloren.",
        "De meeste lezers kochten het boek in een kleine winkel.",
        "De koning verloor de oorlog omdat zijn soldaten honger hadden.",
    ),
    "ru": (
        "Медсёстры плохо спали после ночной работы.",
        "Ледник потерял половину своего льда с 1950 года.",
        "Большинство читателей купили книгу в маленьком магазине.",
        "Король проиграл войну, потому что его солдаты были голодны.",
    ),
    "zh": (
        "护士们上完夜班后睡得很差。",
        "自1950年以来，这座冰川失去了一半的冰。",
        "大多数读者在一家小店里买了这本书。",
        "国王输掉了战争，因为他的士兵们在挨饿。",
    ),
    "ja": (
        "看護師たちは夜勤のあとよく眠れなかった。",
        "その氷河は1950年以来、氷の半分を失った。",
        "読者の多くはその本を小さな店で買った。",
        "兵士たちが飢えていたので、王は戦争に敗れた。",
    ),
    "ko": (
        "간호사들은 야간 근무 후에 잠을 잘 자지 못했다.",
        "그 빙하는 1950년 이후 얼음의 절반을 잃었다.",
        "대부분의 독자는 그 책을 작은 가게에서 샀다.",
        "병사들이 굶주렸기 때문에 왕은 전쟁에서 졌다.",
    ),
    "ar": (
        "نامت الممرضات نوما سيئا بعد العمل ليلا.",
        "فقد النهر الجليدي نصف جليده منذ عام 1950.",
        "اشترى معظم القراء الكتاب من متجر صغير.",
        "خسر الملك الحرب لأن جنوده كانوا جياعا.",
    ),
}


class Crossing:
    """The languages of one encoder, measured when they are first asked for."""

    def __init__(self, encoder: EncoderLanes | None) -> None:
        self._encoder = encoder
        self._measuring = asyncio.Lock()
        self._languages: tuple[str, ...] | None = None

    @property
    def encoder_id(self) -> str:
        """The encoder's id; empty without one."""
        return self._encoder.encoder_id if self._encoder is not None else ""

    async def languages(self) -> tuple[str, ...]:
        """Languages between which questions find texts; none without an encoder."""
        async with self._measuring:
            if self._languages is None:
                self._languages = (
                    bridged(await self._encoder.encode_passages(probes()))
                    if self._encoder is not None
                    else ()
                )
        return self._languages


def probes() -> list[str]:
    """All sentences, to be embedded in this order."""
    return [sentence for sentences in SENTENCES.values() for sentence in sentences]


def bridged(vectors: Sequence[Vectors]) -> tuple[str, ...]:
    """The languages that the vectors of the probes bring together, the original one included.

    A language counts when its sentences lie near their originals, and each nearest to its own.
    """
    rows = np.stack(list(vectors)).reshape(len(SENTENCES), len(SENTENCES[ORIGINAL]), -1)
    by_language = dict(zip(SENTENCES, rows, strict=True))
    near = tuple(
        language
        for language, translations in by_language.items()
        if language != ORIGINAL and _are_near(by_language[ORIGINAL], translations)
    )
    return (ORIGINAL, *near) if near else ()


def _are_near(originals: Vectors, translations: Vectors) -> bool:
    cosines = originals @ translations.T
    own = np.diag(cosines)
    is_nearest = bool((cosines.argmax(axis=1) == np.arange(len(own))).all())
    return is_nearest and float(own.mean()) >= NEAR_ENOUGH
