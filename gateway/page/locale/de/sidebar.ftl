# Alle Wörter der Seitenleiste und der Seite, die das Gateway ausliefert.

## Der Rahmen

sessions = Sitzungen
new-question = Neue Frage
close = Schließen
keep = Behalten
save = Speichern
loading = Wird geladen …
try-again = Erneut versuchen
preferences = Einstellungen
ask-library = Frag deine Bibliothek
welcome = Zocrates durchsucht deine eigenen Arbeiten, zeigt jeden Schritt und belegt jede Aussage mit ihrer Seite.

gate-title = { $why ->
    [UNAUTHENTICATED] Hier fehlt der Schlüssel
    [LINK_EXPIRED] Diese Adresse wurde schon benutzt
    [away] Der Dienst ist nicht da
   *[wrong] Etwas stimmt nicht
  }
key-by-link = Die Seite bekommt ihren Schlüssel über eine Adresse, die einmal gilt. Gib in einem Terminal ein:
key-by-link-then = und öffne die Adresse, die erscheint. Auch „zocrates up“ nennt beim Start eine.
key-by-preferences = Der Schlüssel in den Einstellungen ist nicht der, den der Dienst verlangt. Bleibt er leer, wird er aus der Datei gelesen, die der Dienst beim Start schreibt.
away-run = Das Gateway ist nicht da. Nichts geht verloren; sobald es zurück ist, geht es weiter …

## Der erste Start

first-start-title = Den Dienst starten
first-start = Er läuft auf diesem Rechner und wird von selbst gefunden. Gib in einem Terminal ein:
first-running = Er läuft und wurde von selbst gefunden.
first-private-title = Was diesen Rechner verlässt
first-private = Nichts, bis du ein Sprachmodell einrichtest. Dann gehen deine Frage und die Textstellen, die es liest, an dieses Modell und nirgendwohin sonst.
first-offline-title = Es geht ohne Netz
first-offline = Ohne Sprachmodell besteht die Antwort aus zitierten Sätzen deiner Arbeiten und sagt das auch. „zocrates configure“ richtet ein Modell ein, auch eines auf diesem Rechner.
first-done = Verstanden

## Die Eingabe

your-question = Deine Frage
ask = Fragen
ask-key = Fragen (Strg oder Cmd und Eingabetaste)
stop = Anhalten
stop-hint = Diesen Lauf abbrechen; seine Schritte bleiben sichtbar
decide-first = Entscheide zuerst oben
options = Wie geantwortet wird
options-button = { $chosen ->
    [0] Optionen
   *[other] Optionen ({ $chosen })
  }
review-plan = Zuerst den Plan prüfen
review-plan-hint = Du siehst, wie die Suche geplant ist, und gibst sie frei.
strategy = Strategie
strategy-name = { $name ->
    [quick] Schnell: eine kurze Suche
    [standard] Normal
    [deep] Tief: erweitert von selbst
    [academic] Akademisch: ebenso tief, sorgfältiger
   *[usual] Wie eingerichtet
  }
ask-before = Vor Erweiterungen fragen
ask-before-hint = Sonst wird mit dem geantwortet, was die erste Suche fand.

## Was durchsucht wird

scope = Was durchsucht wird
scope-all = Ganze Bibliothek
scope-change = Ändern
scope-hint = Arten schränken einander ein: Sammlung und Schlagwort durchsuchen, was in beiden liegt. Gezählt werden Einträge.
scope-find = Sammlung, Schlagwort, Arbeit
scope-remove = { $title } entfernen
scope-total = { $items ->
    [one] 1 Eintrag in allem zusammen
   *[other] { $items } Einträge in allem zusammen
  }
scope-chip = { $kind ->
    [text] „{ $title }“
    [tag] #{ $title }
   *[other] { $title }
  }
scope-chip-count = { $kind ->
    [tag] #{ $title } · { $count }
   *[other] { $title } · { $count }
  }
scope-group = { $kind ->
    [offered] In Zotero offen
    [library] Bibliotheken
    [collection] Sammlungen
    [search] Gespeicherte Suchen
    [tag] Schlagwörter
   *[paper] Arbeiten
  }
scope-more = Und { $more } weitere.
scope-unsupported = Nur Zotero kann auswerten: { $conditions }
items = { $items ->
    [one] 1 Eintrag
   *[other] { $items } Einträge
  }

## Ein Zug

edit = Die Frage ändern und neu stellen
edit-takes-later = Neu zu fragen nimmt alle späteren Fragen zurück.
ask-again = Neu fragen
cancel = Abbrechen
continue-run = Diesen Lauf fortsetzen
take-back = Zurücknehmen
take-back-this = Diese Frage zurücknehmen?
take-back-later = Diese und alle späteren Fragen zurücknehmen?
state-queued = Beginnt
stage = { $stage ->
    [converse] Die Frage wird verstanden
    [plan] Die Suche wird geplant
    [search] Die Bibliothek wird durchsucht
    [rerank] Die besten Stellen werden gewählt
    [synthesize] Die Antwort wird geschrieben
    [verify] Die Belege werden geprüft
   *[none] Es wird gearbeitet
  }
state-standing = { $state ->
    [AWAITING_INPUT] Wartet auf deine Entscheidung
    [PAUSED] Angehalten
    [CANCELLED] Abgebrochen
    [EXPIRED] Die Zeit zu entscheiden ist vorbei
   *[DELETED] Diese Sitzung wurde gelöscht
  }
reasoning = Überlegungen
report = Bericht der Suche
gaps = In der Bibliothek nicht gefunden

## Die Arbeit

work = Wie das gefunden wurde
work-so-far = { $calls } von { $callLimit } Aufrufen · { $words } von { $wordLimit } Wörtern
work-done = { $calls ->
    [one] 1 Aufruf
   *[other] { $calls } Aufrufe
  } · { $words ->
    [one] 1 Wort
   *[other] { $words } Wörter
  } gelesen
work-kept = { $kept } von { $considered ->
    [one] 1 Stelle
   *[other] { $considered } Stellen
  } behalten
meter-calls = Aufrufe
meter-words = Gelesene Wörter
meter-passages = Behaltene Stellen
meter-tokens = Tokens
of = { $value } von { $limit }
tool = { $tool ->
    [search_corpus] Suche
    [get_document_toc] Inhalt von
    [read_document] Lesen
    [conclude_search] Abgeschlossen
    [request_search_extension] Um mehr gebeten
   *[other] { $tool }
  }
quoted = „{ $text }“
step-running = läuft …
step-failed = ohne Ergebnis
passages = { $passages ->
    [one] 1 Stelle
   *[other] { $passages } Stellen
  }
words = { $words ->
    [one] 1 Wort
   *[other] { $words } Wörter
  }
documents = { $documents ->
    [one] 1 Dokument
   *[other] { $documents } Dokumente
  }

## Haltepunkte

decision-needed = Eine Entscheidung ist nötig
sending = Deine Entscheidung wird gesendet …
approve = Zustimmen
reject = Ablehnen
extension = Tiefe Recherche: Erweiterung { $number } von { $most }
covered = Bisher abgedeckt
not-covered = Noch nicht abgedeckt
why-more = Warum weitere Suche helfen würde
found-so-far = { $passages ->
    [one] 1 Stelle
   *[other] { $passages } Stellen
  } in { $documents ->
    [one] 1 Dokument
   *[other] { $documents } Dokumenten
  } gefunden.
extent = { $used } von { $limit } → { $next }
extent-label = { $title }: { $used } von { $limit } verbraucht, { $next } mit einer Erweiterung
expires = Offen bis { $time }.
guidance = Hinweis für die Suche (freiwillig)
guidance-hint = Aspekt, Tabelle, Person oder Methode
extend = Erweiterung der Recherche gewähren
adds-calls = { $more ->
    [one] +1 Aufruf
   *[other] +{ $more } Aufrufe
  }
adds-words = { $more ->
    [one] +1 Wort
   *[other] +{ $more } Wörter
  }
adds-tokens = { $more ->
    [one] +1 Token
   *[other] +{ $more } Tokens
  }
adds-passages = { $more ->
    [one] +1 Stelle
   *[other] +{ $more } Stellen
  }
synthesize = Mit den vorhandenen Belegen antworten
decisions = Entscheidungen
decided-extension = { $action ->
    [extend_budget] Erweiterung { $number } von { $most } gewährt
   *[synthesize] Erweiterung { $number } von { $most } nicht gewährt: mit den vorhandenen Belegen geantwortet
  }
decided = { $action ->
    [extend_budget] Erweiterung gewährt
    [synthesize] Mit den vorhandenen Belegen geantwortet
    [reject] Abgelehnt
   *[approve] { $kind ->
    [plan_review] Plan freigegeben
   *[other] Zugestimmt
  }
  }
decided-by = { $what }, durch { $by }
decided-by-expiry = { $what }, da die Zeit zu entscheiden vorbei war
decided-by-strategy = { $what }, wie es die Strategie von selbst tut
decided-elsewhere = { $what }, anderswo

plan-review = Prüfung des Rechercheplans
plan-badge = { $round ->
    [0] Rechercheplan
   *[other] Rechercheplan: Runde { $round } von { $most }
  }
plan-approve = Freigeben und suchen
plan-feedback = Anmerkung senden
planning = Der Plan wird überarbeitet …
feedback = Anmerkung zum Plan
feedback-hint = Was dazukommen, wegfallen oder anders geordnet sein soll
plan-changed = Was sich von Fassung { $from } zu { $to } geändert hat
plan-changed-elsewhere = Anderswo geändert, seit du es gelesen hast: Fassung { $from } zu { $to }
rounds = { $rounds ->
    [one] 1 frühere Nachricht
   *[other] { $rounds } frühere Nachrichten
  }
round-by = { $author ->
    [planner] Plan, Runde { $round }
   *[person] Du, Runde { $round }
  }

## Quellen

sources = Quellen
chip = Quelle { $number }: { $title }, { $place }, { $support }
page = S. { $label }
page-short = S.
no-pages = ohne Seiten
support = { $support ->
    [verified] Geprüft
    [weak] Schwach
    [unsupported] Nicht gestützt
   *[unchecked] Ungeprüft
  }
support-meaning = { $support ->
    [verified] Das Zitat steht wörtlich auf dieser Seite und trägt den Satz.
    [weak] Das Zitat steht auf dieser Seite; ob es den Satz trägt, ist nicht sicher.
    [unsupported] Das Zitat trägt den Satz nicht.
   *[unchecked] Dieser Beleg konnte nicht geprüft werden.
  }
judged-by = Beurteilt von { $judge }.
reading = { $state ->
    [abstract_only] Von dieser Quelle wurde nur die Zusammenfassung gelesen.
   *[partial] Diese Quelle wurde nur zum Teil gelesen.
  }
open-page = Seite öffnen
show-passage = Stelle zeigen
open-in-zotero = In Zotero öffnen
select-item = In Zotero auswählen
passage-text = Text der Stelle
written-by = Geschrieben von { $model }
verified-count = { $verified } von { $citations ->
    [one] 1 Beleg
   *[other] { $citations } Belegen
  } geprüft
seconds = { $seconds } s
tokens = { $tokens ->
    [one] 1 Token
   *[other] { $tokens } Tokens
  }

## Danach

take-along = Mitnehmen
save-note = Als Notiz speichern
copy-markdown = Markdown kopieren
copy-bibtex = BibTeX kopieren
copy-csl = CSL kopieren
copied = Kopiert.
saved = Gespeichert.
saved-at = Gespeichert: { $where }
failed = Das ging nicht: { $reason }
evidence = { $papers ->
    [one] Belege aus 1 Arbeit
   *[other] Belege aus { $papers } Arbeiten
  }
chart-cited = zitierte Stellen
chart-found = gefundene Stellen
chart-row = { $cited } von { $found } zitiert
chart-section = { $section } { $cited }
chart-no-section = (ohne Abschnitt)
chart-more = { $papers ->
    [one] Und 1 weitere Arbeit, aus der nichts zitiert oder wenig gefunden wurde.
   *[other] Und { $papers } weitere Arbeiten, aus denen nichts zitiert oder wenig gefunden wurde.
  }

## Sitzungen

find-session = Sitzung suchen
find-session-label = Eine Sitzung nach ihrem Titel suchen
older = Ältere
no-sessions = Noch keine Fragen.
no-such-session = Kein Titel enthält diese Wörter.
rename = Umbenennen
delete = Löschen
rename-session = „{ $title }“ umbenennen
delete-session = „{ $title }“ löschen
title = Titel
delete-ask = „{ $title }“ löschen?
delete-warning = „{ $title }“ mit allen Fragen löschen? Nichts bringt sie zurück.
clear-all = Alle Sitzungen löschen …
clear-all-warning = Jede Sitzung mit allen Fragen und Antworten löschen? Nichts bringt sie zurück. Deine Bibliothek bleibt, wie sie ist.
clear-all-yes = Alle löschen
clearing = Wird gelöscht …

## Die Bibliothek

library = Bibliothek …
library-title = Bibliothek
library-none = Keine Bibliothek
library-away = Bibliothek: nicht da
library-line = { $kind ->
    [demo] Demobibliothek ·{" "}
   *[zotero] {""}
  }{ $documents ->
    [one] 1 Dokument
   *[other] { $documents } Dokumente
  }
library-vectors = Vektoren { $done } von { $total }
source-kind = { $kind ->
    [demo] Erfundene Demobibliothek
    [local_api] Laufendes Zotero
    [web_api] Zoteros Server
    [sqlite] Datenordner von Zotero
   *[other] { $kind }
  }
source-none = keine
never = noch nicht
fact-source = Quelle
fact-folder = Ort
fact-program = Programm
fact-synced = Zuletzt gelesen
fact-items = Einträge
fact-documents = Dokumente
fact-full = Ganz gelesen
fact-part = Zum Teil gelesen
fact-abstract = Nur Zusammenfassung
fact-unreadable = Unlesbar
fact-vectors = Vektoren
fact-encoder = Encoder
fact-ranking = Geordnet von
fact-support = Stützung beurteilt von
fact-search-agent = Gesucht von
fact-writer = Geschrieben von
fact-last-error = Letzter Fehler
sync = Auf den neuesten Stand bringen
sync-stop = Lesen anhalten
sync-progress = Fortschritt beim Lesen der Bibliothek
sync-done = Auf dem neuesten Stand.
sync-failed = Die Bibliothek konnte nicht gelesen werden.
sync-phase = { $phase ->
    [snapshot] Die Bibliothek wird gelesen
    [text] Texte werden gelesen
    [vectors] Vektoren werden berechnet
   *[other] { $phase }
  }
sync-phase-count = { $phase ->
    [snapshot] Die Bibliothek wird gelesen:
    [text] Texte werden gelesen:
    [vectors] Vektoren werden berechnet:
   *[other] { $phase }
  } { $done } von { $total }
skipped = Nicht oder nicht ganz gelesen: { $documents ->
    [one] 1 Dokument
   *[other] { $documents } Dokumente
  }
skip-group = { $name } ({ $documents })
retry-skipped = Diese erneut versuchen
reason = { $reason ->
    [file_missing] Datei fehlt
    [encrypted] Verschlüsselt
    [image_only] Nur Bilder, kein Text
    [damaged] Beschädigte Datei
    [unsupported_type] Diese Art Datei wird nicht gelesen
    [too_large] Zu groß
    [timed_out] Dauerte zu lange
    [base_folder_unknown] Basisordner unbekannt
    [outside_library] Außerhalb der Bibliothek
    [changing] Wird gerade geschrieben
   *[no_unicode_map] Text ohne Zeichentabelle
  }
remedy = { $reason ->
    [file_missing] Lass Zotero die Datei laden (einmal öffnen) oder such sie mit „Finden“; dann versuch es erneut.
    [encrypted] Leg an ihre Stelle eine Kopie ohne Kennwort; dann versuch es erneut.
    [image_only] Lass Texterkennung über die Datei laufen und behalte die Kopie mit Text; dann versuch es erneut.
    [damaged] Hol die Datei neu von ihrer Quelle; dann versuch es erneut.
    [too_large] Heb die Grenze in der Konfiguration an oder häng nur den Teil an, den du brauchst.
    [timed_out] Versuch es erneut, wenn der Rechner weniger zu tun hat.
    [changing] Warte, bis sie nicht mehr geschrieben wird; dann versuch es erneut.
    [base_folder_unknown] Stell in Zotero den Basisordner für verknüpfte Dateien ein oder nenn ihn dem Dienst.
   *[no_unicode_map] Lass Texterkennung über die Datei laufen, damit ihre Buchstaben lesbar werden.
  }
local-api-offer = Zotero kann dem Dienst direkt antworten, sodass Änderungen sofort gesehen werden. Das ist aus, bis du es erlaubst.
local-api-allowed = Zotero antwortet dem Dienst direkt.
allow-local-api = Erlauben und benutzen
use-local-api = Aus diesem Zotero lesen
use-this-folder = Lieber den Datenordner lesen
source-chosen = Die Bibliothek wird jetzt von dort gelesen.

## Fehler mit eigenen Worten

error-unreachable = Das Gateway ist nicht zu erreichen.
error-peer-down = Ein Teil des Dienstes ist nicht da. Versuch es gleich noch einmal.
error-peer-timeout = Ein Teil des Dienstes hat nicht rechtzeitig geantwortet.
error-version-conflict = Es hat sich geändert, seit du es gelesen hast. Die Änderung wird gezeigt; entscheide noch einmal.
error-feedback-in-progress = Die Anmerkung von jemand anderem wird bearbeitet. Warte darauf und entscheide dann.
error-checkpoint-expired = Die Zeit zu entscheiden ist vorbei.
error-sync-stopped = Angehalten. Was gelesen ist, bleibt; das nächste Mal geht es dort weiter.
error-limit-reached = Zu viel auf einmal. Versuch es gleich noch einmal.
