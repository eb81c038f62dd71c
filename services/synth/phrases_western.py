"""What the product says in languages of Latin and Cyrillic script."""

from services.synth.phrases import Phrases

WESTERN: dict[str, Phrases] = {
    "en": Phrases(
        report_one="{who} reports:",
        report_many="{who} report:",
        own_note="A note on {title} says:",
        two_authors="{first} and {second}",
        more_authors="{first} et al.",
        untitled="Untitled work",
        gaps_heading="Not in this library",
        nothing_on="nothing on {things}",
        nothing="This library does not answer the question.",
        uncited=(
            "Nothing in this text could be tied to a passage of this library, so treat it "
            "with caution."
        ),
        nearest="The nearest works, which do not answer it:",
        disagreement="Sources {first} and {second} may disagree; compare them in the originals.",
        honesty=(
            "This answer was put together without a language model: it quotes the library word "
            "for word and adds nothing of its own."
        ),
        other_language=(
            "The question and the works found seem to be in different languages; ask in the "
            "language of the works as well."
        ),
        greeting="Hello! Ask a question, and I will look for the answer in your library.",
        thanks="You are welcome. Ask on whenever you like.",
        about=(
            "I search the works of your Zotero library, quote the sentences that answer your "
            "question with their pages, and say what the library does not cover. This happens "
            "without a language model. Ask me a question about your research."
        ),
        searching="Searching the library for: {queries}",
        reading="Reading on in: {title}",
        concluding="Weighing what was found",
        covered="Found support for: {aspects}.",
        not_covered="Nothing found supports an answer.",
        writing="Choosing sentences from {count} passages",
        mending="Writing {count} sentences anew that their passages do not support",
    ),
    "de": Phrases(
        report_one="{who} berichtet:",
        report_many="{who} berichten:",
        own_note="Eine Notiz zu {title} sagt:",
        two_authors="{first} und {second}",
        more_authors="{first} et al.",
        untitled="Werk ohne Titel",
        gaps_heading="Nicht in dieser Bibliothek",
        nothing_on="nichts zu {things}",
        nothing="Diese Bibliothek beantwortet die Frage nicht.",
        uncited=(
            "Nichts in diesem Text ließ sich an einer Stelle dieser Bibliothek festmachen; "
            "bitte mit Vorsicht lesen."
        ),
        nearest="Die nächstliegenden Werke, die sie nicht beantworten:",
        disagreement=(
            "Die Quellen {first} und {second} widersprechen sich möglicherweise; ein Vergleich "
            "der Originale lohnt sich."
        ),
        honesty=(
            "Diese Antwort entstand ohne Sprachmodell: Sie zitiert die Bibliothek wörtlich und "
            "fügt nichts Eigenes hinzu."
        ),
        other_language=(
            "Frage und gefundene Werke sind offenbar in verschiedenen Sprachen; stellen Sie die "
            "Frage auch in der Sprache der Werke."
        ),
        greeting="Hallo! Stellen Sie eine Frage, und ich suche die Antwort in Ihrer Bibliothek.",
        thanks="Gern geschehen. Fragen Sie jederzeit weiter.",
        about=(
            "Ich durchsuche die Werke Ihrer Zotero-Bibliothek, zitiere die Sätze, die Ihre Frage "
            "beantworten, mit Seitenangabe und sage, was die Bibliothek nicht abdeckt. Das "
            "geschieht ohne Sprachmodell. Stellen Sie mir eine Forschungsfrage."
        ),
        searching="Suche in der Bibliothek: {queries}",
        reading="Lese weiter in: {title}",
        concluding="Wäge die Funde ab",
        covered="Belege gefunden zu: {aspects}.",
        not_covered="Nichts Gefundenes stützt eine Antwort.",
        writing="Wähle Sätze aus {count} Textstellen",
        mending="Schreibe {count} Sätze neu, die ihre Textstellen nicht stützen",
    ),
    "fr": Phrases(
        report_one="{who} rapporte :",
        report_many="{who} rapportent :",
        own_note="Une note sur {title} dit :",
        two_authors="{first} et {second}",
        more_authors="{first} et al.",
        untitled="Document sans titre",
        gaps_heading="Absent de cette bibliothèque",
        nothing_on="rien sur {things}",
        nothing="Cette bibliothèque ne répond pas à la question.",
        uncited=(
            "Rien dans ce texte n’a pu être rattaché à un passage de cette bibliothèque ; à "
            "lire avec prudence."
        ),
        nearest="Les documents les plus proches, qui n'y répondent pas :",
        disagreement=(
            "Les sources {first} et {second} semblent en désaccord ; comparez-les dans les "
            "originaux."
        ),
        honesty=(
            "Cette réponse a été composée sans modèle de langage : elle cite la bibliothèque mot "
            "pour mot et n'ajoute rien."
        ),
        other_language=(
            "La question et les documents trouvés semblent être dans des langues différentes ; "
            "posez aussi la question dans la langue des documents."
        ),
        greeting=(
            "Bonjour ! Posez une question, et je chercherai la réponse dans votre bibliothèque."
        ),
        thanks="Je vous en prie. Continuez quand vous voulez.",
        about=(
            "Je cherche dans les documents de votre bibliothèque Zotero, je cite avec leur page "
            "les phrases qui répondent à votre question et je dis ce que la bibliothèque ne "
            "couvre pas. Cela se fait sans modèle de langage. Posez-moi une question de "
            "recherche."
        ),
        searching="Recherche dans la bibliothèque : {queries}",
        reading="Lecture de : {title}",
        concluding="Évaluation de ce qui a été trouvé",
        covered="Éléments trouvés pour : {aspects}.",
        not_covered="Rien de ce qui a été trouvé ne permet de répondre.",
        writing="Choix de phrases dans {count} passages",
        mending="Réécriture de {count} phrases que leurs passages n'appuient pas",
    ),
    "es": Phrases(
        report_one="{who} informa:",
        report_many="{who} informan:",
        own_note="Una nota sobre {title} dice:",
        two_authors="{first} y {second}",
        more_authors="{first} et al.",
        untitled="Obra sin título",
        gaps_heading="No está en esta biblioteca",
        nothing_on="nada sobre {things}",
        nothing="Esta biblioteca no responde a la pregunta.",
        uncited=(
            "Nada de este texto pudo vincularse a un pasaje de esta biblioteca; léalo con cautela."
        ),
        nearest="Las obras más cercanas, que no la responden:",
        disagreement=(
            "Las fuentes {first} y {second} podrían discrepar; compárelas en los originales."
        ),
        honesty=(
            "Esta respuesta se compuso sin modelo de lenguaje: cita la biblioteca palabra por "
            "palabra y no añade nada propio."
        ),
        other_language=(
            "La pregunta y las obras encontradas parecen estar en idiomas distintos; pregunte "
            "también en el idioma de las obras."
        ),
        greeting="¡Hola! Haga una pregunta y buscaré la respuesta en su biblioteca.",
        thanks="De nada. Siga preguntando cuando quiera.",
        about=(
            "Busco en las obras de su biblioteca de Zotero, cito con su página las frases que "
            "responden a su pregunta y digo lo que la biblioteca no cubre. Lo hago sin modelo de "
            "lenguaje. Hágame una pregunta de investigación."
        ),
        searching="Buscando en la biblioteca: {queries}",
        reading="Leyendo más en: {title}",
        concluding="Valorando lo encontrado",
        covered="Se encontró apoyo para: {aspects}.",
        not_covered="Nada de lo encontrado sustenta una respuesta.",
        writing="Eligiendo frases de {count} pasajes",
        mending="Reescribiendo {count} frases que sus pasajes no respaldan",
    ),
    "it": Phrases(
        report_one="{who} riporta:",
        report_many="{who} riportano:",
        own_note="Una nota su {title} dice:",
        two_authors="{first} e {second}",
        more_authors="{first} et al.",
        untitled="Opera senza titolo",
        gaps_heading="Non presente in questa biblioteca",
        nothing_on="nulla su {things}",
        nothing="Questa biblioteca non risponde alla domanda.",
        uncited=(
            "Nulla in questo testo è riconducibile a un passo di questa biblioteca; va letto "
            "con cautela."
        ),
        nearest="Le opere più vicine, che non vi rispondono:",
        disagreement=(
            "Le fonti {first} e {second} potrebbero essere in disaccordo; confrontatele negli "
            "originali."
        ),
        honesty=(
            "Questa risposta è stata composta senza modello linguistico: cita la biblioteca "
            "parola per parola e non aggiunge nulla di proprio."
        ),
        other_language=(
            "La domanda e le opere trovate sembrano essere in lingue diverse; ponete la domanda "
            "anche nella lingua delle opere."
        ),
        greeting="Ciao! Fai una domanda e cercherò la risposta nella tua biblioteca.",
        thanks="Prego. Chiedi ancora quando vuoi.",
        about=(
            "Cerco nelle opere della tua biblioteca Zotero, cito con la pagina le frasi che "
            "rispondono alla tua domanda e dico che cosa la biblioteca non copre. Lo faccio "
            "senza modello linguistico. Fammi una domanda di ricerca."
        ),
        searching="Cerco nella biblioteca: {queries}",
        reading="Continuo a leggere: {title}",
        concluding="Valuto ciò che ho trovato",
        covered="Trovato sostegno per: {aspects}.",
        not_covered="Nulla di quanto trovato sostiene una risposta.",
        writing="Scelgo frasi da {count} passi",
        mending="Riscrivo {count} frasi che i loro passaggi non sostengono",
    ),
    "pt": Phrases(
        report_one="{who} relata:",
        report_many="{who} relatam:",
        own_note="Uma nota sobre {title} diz:",
        two_authors="{first} e {second}",
        more_authors="{first} et al.",
        untitled="Obra sem título",
        gaps_heading="Não está nesta biblioteca",
        nothing_on="nada sobre {things}",
        nothing="Esta biblioteca não responde à pergunta.",
        uncited=(
            "Nada neste texto pôde ser ligado a uma passagem desta biblioteca; leia com cautela."
        ),
        nearest="As obras mais próximas, que não a respondem:",
        disagreement="As fontes {first} e {second} podem discordar; compare-as nos originais.",
        honesty=(
            "Esta resposta foi composta sem modelo de linguagem: cita a biblioteca palavra por "
            "palavra e não acrescenta nada."
        ),
        other_language=(
            "A pergunta e as obras encontradas parecem estar em línguas diferentes; pergunte "
            "também na língua das obras."
        ),
        greeting="Olá! Faça uma pergunta e procurarei a resposta na sua biblioteca.",
        thanks="De nada. Continue a perguntar quando quiser.",
        about=(
            "Pesquiso as obras da sua biblioteca Zotero, cito com a página as frases que "
            "respondem à sua pergunta e digo o que a biblioteca não cobre. Faço-o sem modelo de "
            "linguagem. Faça-me uma pergunta de investigação."
        ),
        searching="A procurar na biblioteca: {queries}",
        reading="A ler mais em: {title}",
        concluding="A ponderar o que foi encontrado",
        covered="Encontrado apoio para: {aspects}.",
        not_covered="Nada do que foi encontrado sustenta uma resposta.",
        writing="A escolher frases de {count} passagens",
        mending="A reescrever {count} frases que as suas passagens não apoiam",
    ),
    "nl": Phrases(
        report_one="{who} meldt:",
        report_many="{who} melden:",
        own_note="Een notitie bij {title} zegt:",
        two_authors="{first} en {second}",
        more_authors="{first} et al.",
        untitled="Werk zonder titel",
        gaps_heading="Niet in deze bibliotheek",
        nothing_on="niets over {things}",
        nothing="Deze bibliotheek beantwoordt de vraag niet.",
        uncited=(
            "Niets in deze tekst kon aan een passage in deze bibliotheek worden gekoppeld; "
            "lees met voorzichtigheid."
        ),
        nearest="De meest verwante werken, die haar niet beantwoorden:",
        disagreement=(
            "De bronnen {first} en {second} spreken elkaar mogelijk tegen; vergelijk ze in het "
            "origineel."
        ),
        honesty=(
            "Dit antwoord is zonder taalmodel samengesteld: het citeert de bibliotheek "
            "woordelijk en voegt niets toe."
        ),
        other_language=(
            "De vraag en de gevonden werken lijken in verschillende talen te zijn; stel de vraag "
            "ook in de taal van de werken."
        ),
        greeting="Hallo! Stel een vraag, dan zoek ik het antwoord in je bibliotheek.",
        thanks="Graag gedaan. Vraag gerust verder.",
        about=(
            "Ik doorzoek de werken van je Zotero-bibliotheek, citeer met de pagina de zinnen die "
            "je vraag beantwoorden en zeg wat de bibliotheek niet behandelt. Dat gebeurt zonder "
            "taalmodel. Stel me een onderzoeksvraag."
        ),
        searching="Zoeken in de bibliotheek: {queries}",
        reading="Verder lezen in: {title}",
        concluding="De vondsten afwegen",
        covered="Onderbouwing gevonden voor: {aspects}.",
        not_covered="Niets van wat gevonden is onderbouwt een antwoord.",
        writing="Zinnen kiezen uit {count} passages",
        mending="Herschrijf {count} zinnen die hun passages niet ondersteunen",
    ),
    "ru": Phrases(
        report_one="{who}:",
        report_many="{who}:",
        own_note="Заметка к {title}:",
        two_authors="{first} и {second}",
        more_authors="{first} и др.",
        untitled="Работа без названия",
        gaps_heading="Нет в этой библиотеке",
        nothing_on="ничего о: {things}",
        nothing="В этой библиотеке нет ответа на вопрос.",
        uncited=(
            "Ничто в этом тексте не удалось связать с местом в этой библиотеке; читайте с "
            "осторожностью."
        ),
        nearest="Ближайшие работы, которые на него не отвечают:",
        disagreement="Источники {first} и {second}, возможно, расходятся; сравните их в оригинале.",
        honesty=(
            "Этот ответ составлен без языковой модели: он дословно цитирует библиотеку и ничего "
            "не добавляет."
        ),
        other_language=(
            "Вопрос и найденные работы, по-видимому, на разных языках; задайте вопрос и на языке "
            "работ."
        ),
        greeting="Здравствуйте! Задайте вопрос, и я поищу ответ в вашей библиотеке.",
        thanks="Пожалуйста. Спрашивайте ещё.",
        about=(
            "Я ищу в работах вашей библиотеки Zotero, цитирую с указанием страниц предложения, "
            "которые отвечают на ваш вопрос, и говорю, чего в библиотеке нет. Это делается без "
            "языковой модели. Задайте исследовательский вопрос."
        ),
        searching="Поиск в библиотеке: {queries}",
        reading="Чтение: {title}",
        concluding="Оценка найденного",
        covered="Найдены подтверждения: {aspects}.",
        not_covered="Ничто из найденного не даёт ответа.",
        writing="Выбор предложений из фрагментов: {count}",
        mending="Переписываю предложения без опоры в источниках: {count}",
    ),
}
