"""What headings look like: their numbers, the names papers use, the names of reference lists."""

import re
import unicodedata

# 1, 2.3, 2.3.1., IV., A., A.1, Appendix B, Chapter 3, 第3章
NUMBER = re.compile(
    r"""
    (?: (?P<decimal>\d{1,2}(?:\.\d{1,2}){0,4})\.?
      | (?P<roman>[IVX]{1,5})[.:]
      | (?P<letter>[A-Z])(?:(?P<sub>(?:\.\d{1,2})+)\.?|[.:]?)
      | (?:appendix|annex|chapter|part|section|supplement|kapitel|anhang|chapitre|annexe
          |capítulo|anexo|глава|приложение)\s+\w{1,4}[.:]?
      | 第[\d一二三四五六七八九十]+[章節节部編]
      | §\s*\d+
    )
    (?:\s+[-–—]?\s*|$)(?=\S|$)
    """,
    re.IGNORECASE | re.VERBOSE,
)
NOT_LETTERS = re.compile(r"[^\w]+")

KNOWN = """
abstract, summary, introduction, background, motivation, preliminaries, related work,
related works, literature review, methods, method, methodology, materials and methods,
materials & methods, methods and materials, experimental, experiments, experimental section,
experimental setup, experimental procedures, evaluation, results, findings, analysis,
discussion, results and discussion, discussion and conclusion, discussion and conclusions,
general discussion, conclusion, conclusions, concluding remarks, conclusion and future work,
conclusions and future work, limitations, future work, outlook, acknowledgements,
acknowledgments, acknowledgement, acknowledgment, funding, data availability,
code availability, data and code availability, data availability statement,
author contributions, authors' contributions, conflict of interest, conflicts of interest,
competing interests, declaration of competing interest, ethics statement,
ethical considerations, broader impact, supplementary material, supplementary information,
supporting information, appendix, appendices, keywords, study design, participants,
procedure, theory, case study, preface, foreword, contents,
zusammenfassung, einleitung, methoden, methodik, ergebnisse, diskussion, fazit, schluss,
schlussfolgerungen, danksagung, anhang, résumé, méthodes, résultats, remerciements,
resumen, introducción, métodos, metodología, resultados, discusión, conclusiones,
agradecimientos, resumo, introdução, metodologia, discussão, conclusão, conclusões,
аннотация, введение, методы, результаты, обсуждение, заключение, выводы, благодарности,
摘要, 引言, 绪论, 背景, 方法, 结果, 讨论, 结论, 致谢, 附录,
要旨, 要約, はじめに, 序論, 結果, 考察, 結論, おわりに, 謝辞, 付録,
초록, 요약, 서론, 이론적 배경, 연구 방법, 방법, 결과, 연구 결과, 논의, 결론, 감사의 글, 부록,
الملخص, ملخص, مقدمة, المقدمة, المنهجية, منهجية البحث, النتائج, المناقشة, الخاتمة, شكر وتقدير,
چکیده, مقدمه, روش, روش‌ها, یافته‌ها, نتایج, بحث, نتیجه‌گیری,
תקציר, מבוא, רקע, שיטה, שיטות, תוצאות, ממצאים, דיון, מסקנות, סיכום, תודות, נספח,
анотація, вступ, методи, результати дослідження, обговорення, висновки, подяка,
streszczenie, wstęp, wprowadzenie, metody, wyniki, dyskusja, wnioski, podsumowanie,
riassunto, introduzione, metodi, risultati, discussione, conclusioni, ringraziamenti,
samenvatting, inleiding, methode, resultaten, discussie, conclusie, dankwoord,
sammanfattning, inledning, metod, resultat, slutsatser, özet, giriş, yöntem, bulgular, tartışma,
sonuç, sonuçlar, περίληψη, εισαγωγή, μέθοδος, αποτελέσματα, συζήτηση, συμπεράσματα
"""
REFERENCES = """
references, reference, bibliography, literature cited, works cited, references and notes,
notes and references, references cited, reference list, list of references,
cited literature, sources, literatur, literaturverzeichnis, quellen, références,
références bibliographiques, bibliographie, referencias, referencias bibliográficas,
bibliografía, referências, referências bibliográficas, bibliografia,
riferimenti bibliografici, literatuur, литература, список литературы, библиография,
источники, 参考文献, 引用文献, 文献, 参考资料, 參考文獻, 참고문헌, 참고 문헌, 引用・参考文献,
المراجع, المصادر, قائمة المراجع, المصادر والمراجع, منابع,
ביבליוגרפיה, מקורות, רשימת מקורות, література, список літератури, список использованной литературы,
список использованных источников, literatura, kaynakça, kaynaklar, referenser, källförteckning,
βιβλιογραφία, αναφορές
"""


def _names(listed: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()).casefold() for name in listed.split(","))


REFERENCE_NAMES = _names(REFERENCES)
KNOWN_NAMES = _names(KNOWN) | REFERENCE_NAMES


def bare(title: str) -> str:
    """The title without its numbering, in small letters."""
    text = unicodedata.normalize("NFKC", " ".join(title.split())).casefold()
    number = NUMBER.match(text)
    rest = text[number.end() :] if number is not None else text
    return (rest or text).strip(" .:–—-")


def comparable(title: str) -> str:
    """The title for comparisons: letters and digits only, without numbering."""
    return NOT_LETTERS.sub("", bare(title))


def is_known(title: str) -> bool:
    """Whether the title is one of the names that sections of papers have."""
    return bare(title) in KNOWN_NAMES


def is_reference_list(title: str) -> bool:
    """Whether the title names a list of references."""
    return bare(title) in REFERENCE_NAMES


def numbered_level(title: str) -> int | None:
    """The depth that a heading's number says, 1 for the outermost; None without a number."""
    number = NUMBER.match(title)
    if number is None or number.end() == len(title) or title[0].islower():
        return None
    depth = number["decimal"] or number["sub"] or ""
    return depth.count(".") + 1
