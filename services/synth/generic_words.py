"""Words of scholarly talk that say little about a topic; their absence proves nothing."""

_LISTS = {
    "en": """
        study studies result results evidence effect effects effective effectiveness affect
        affects affected impact impacts influence influences role roles change changes changed
        increase increases increased decrease decreases decreased improve improves improved
        improvement reduce reduces reduced reduction compare compared comparison comparing
        difference differences differ different higher lower high low level levels rate rates
        group groups measure measures measured measurement method methods main report reports
        reported paper papers author authors article articles literature research finding
        findings suggest suggests suggested cause causes caused factor factors type types way
        ways amount degree outcome outcomes benefit benefits beneficial problem problems
        approach approaches analysis data number numbers large small important significant
        significantly recent similar good better best worse worst versus help helps work works
        know known think matter matters depend depends relate related relation relationship
        association associated associate associates link linked linking lead leads leading
        involve involved involves contribute contributes play plays promote promotes enhance
        enhances enhanced predict predicts predicted determine determines observe observed
        possible potential likely particular specific general overall common key new several
        various certain whole participant participants people person percentage percent
        proportion average mean total long short time times year years day days week weeks
        month months limitation limitations strength weakness claim claims argue argues
        consequence consequences reason reasons explanation mechanism mechanisms process exist
        exists happen happens occur occurs become becomes remain remains take takes come comes
        seem seems support supports supported library topic question answer answers theory
        model models current available present previous first second third two three many fewer
        presence absence require requires required regulate regulates regulated activity
        function functions exhibit exhibits induce induces induced induction conclude concluded
        conclusion conclusions recommend recommended describe described discuss discussed
        develop developed development obtain obtained solve solved solution solutions made
        criterion practical simple
        longer shorter faster slower larger smaller greater keep keeps kept happen happens
        happened change notice
        """,
    "de": """
        studie studien ergebnis ergebnisse evidenz effekt effekte wirkung wirkungen auswirkung
        auswirkungen einfluss einflüsse rolle veränderung veränderungen änderung erhöhen erhöht
        senken senkt verbessern verbessert verringern unterschied unterschiede vergleich
        vergleichen höher niedriger hoch niedrig rate gruppe gruppen methode methoden bericht
        autor autoren artikel literatur forschung befund befunde ursache ursachen faktor
        faktoren art weise menge grad problem analyse daten zahl anzahl groß klein wichtig
        signifikant bessere besser beste schlechter zusammenhang beziehung beeinflussen
        beeinflusst bekannt hilft helfen teilnehmer personen menschen prozent anteil dauer
        lange kurz zeit jahre tage wochen grenzen fragen frage antwort untersucht führt führen
        """,
    "fr": """
        étude études résultat résultats preuve preuves effet effets impact influence influences
        rôle changement changements augmenter augmente diminuer diminue améliorer améliore
        réduire réduit différence différences comparaison comparer comparé supérieur inférieur
        haut bas niveau niveaux taux groupe groupes mesure mesures méthode méthodes rapport
        auteur auteurs article articles littérature recherche recherches cause causes facteur
        facteurs type types manière quantité degré problème analyse données nombre grand petit
        important significatif meilleur mieux pire lien liens relation affecte affecter connu
        aide aider participants personnes pourcentage durée long court temps année années jour
        jours semaines limites question réponse conduit
        """,
    "es": """
        estudio estudios resultado resultados evidencia efecto efectos impacto influencia papel
        cambio cambios aumentar aumenta disminuir disminuye mejorar mejora reducir reduce
        diferencia diferencias comparación comparar comparado mayor menor alto bajo nivel
        niveles tasa grupo grupos medida medidas método métodos informe autor autores artículo
        artículos literatura investigación investigaciones causa causas factor factores tipo
        tipos manera cantidad grado problema análisis datos número grande pequeño importante
        significativo mejor peor relación asociación afecta afectar influye conocido sabe ayuda
        participantes personas porcentaje duración largo corto tiempo año años día días semanas
        límites limitaciones pregunta respuesta
        """,
    "it": """
        studio studi risultato risultati evidenza evidenze effetto effetti impatto influenza
        ruolo cambiamento cambiamenti aumentare aumenta diminuire diminuisce migliorare
        migliora ridurre riduce differenza differenze confronto confrontare maggiore minore
        alto basso livello livelli tasso gruppo gruppi misura misure metodo metodi autore
        autori articolo articoli letteratura ricerca ricerche causa cause fattore fattori tipo
        modo quantità grado problema analisi dati numero grande piccolo importante
        significativo migliore peggiore relazione associazione influisce influire noto aiuta
        partecipanti persone percentuale durata lungo breve tempo anno anni giorno giorni
        settimane limiti domanda risposta
        """,
    "pt": """
        estudo estudos resultado resultados evidência evidências efeito efeitos impacto
        influência papel mudança mudanças aumentar aumenta diminuir diminui melhorar melhora
        reduzir reduz diferença diferenças comparação comparar maior menor alto baixo nível
        níveis taxa grupo grupos medida medidas método métodos autor autores artigo artigos
        literatura pesquisa investigação causa causas fator fatores tipo maneira quantidade
        grau problema análise dados número grande pequeno importante significativo melhor pior
        relação associação afeta afetar influencia conhecido sabe ajuda participantes pessoas
        percentagem duração longo curto tempo ano anos dia dias semanas limites limitações
        pergunta resposta
        """,
    "nl": """
        studie studies onderzoek onderzoeken resultaat resultaten bewijs effect effecten
        invloed impact rol verandering veranderingen verhogen verhoogt verlagen verlaagt
        verbeteren verbetert verminderen verschil verschillen vergelijking vergelijken hoger
        lager hoog laag niveau niveaus groep groepen methode methoden auteur auteurs artikel
        artikelen literatuur oorzaak oorzaken factor factoren soort manier hoeveelheid mate
        probleem analyse gegevens aantal groot klein belangrijk significant beter slechter
        verband relatie beïnvloeden beïnvloedt bekend helpt deelnemers mensen personen
        percentage duur lang kort tijd jaar jaren dag dagen weken beperkingen vraag antwoord
        """,
    "ru": """
        исследование исследования исследований результат результаты доказательства эффект
        эффекты влияние влияет влияют роль изменение изменения увеличение увеличивает снижение
        снижает улучшает уменьшает различие различия разница сравнение сравнить выше ниже
        высокий низкий уровень уровни группа группы метод методы автор авторы статья статьи
        литература причина причины фактор факторы вид способ количество степень проблема анализ
        данные число большой малый важный значимый лучше хуже связь связан помогает участники
        люди процент доля длительность время год годы дней недель ограничения вопрос ответ
        действует
        """,
    "ar": """
        دراسة دراسات الدراسة نتيجة نتائج دليل أدلة تأثير آثار أثر يؤثر تؤثر دور تغير زيادة يزيد
        انخفاض يقلل تحسين يحسن فرق الفرق اختلاف مقارنة أعلى مستوى معدل مجموعة طريقة طرق مؤلف
        مقال بحث سبب أسباب عامل عوامل نوع كمية درجة مشكلة تحليل بيانات عدد كبير صغير مهم أفضل
        علاقة العلاقة معروف يساعد المشاركين أشخاص نسبة مدة وقت سنة سنوات
        """,
    "zh": """
        研究 结果 證據 证据 影响 影響 作用 效果 效应 变化 增加 减少 提高 改善 降低 差异 比较
        区别 水平 方法 报告 作者 文章 文献 论文 原因 因素 类型 程度 问题 分析 数据 数量 重要
        显著 关系 相关 关联 导致 参与者 比例 时间
        """,
    "ja": """
        研究 結果 証拠 影響 効果 作用 役割 変化 増加 減少 向上 改善 低下 差異 違い 比較 水準
        方法 報告 著者 論文 文献 原因 要因 種類 程度 問題 分析 データ 重要 有意 関係 関連
        参加者 割合 時間 与える
        """,
    "ko": """
        연구 결과 증거 영향 효과 작용 역할 변화 증가 감소 향상 개선 저하 차이 비교 수준 방법
        보고 저자 논문 문헌 원인 요인 종류 정도 문제 분석 데이터 중요 유의 관계 관련 참가자
        비율 시간
        """,
}

GENERIC_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _LISTS.items()
}
