# Was das Plugin um die Seitenleiste herum zeigt; sie selbst hat eigene Texte.

zocrates-sidenav =
    .title = Die Bibliothek befragen (Zocrates)
    .aria-label = Die Bibliothek befragen (Zocrates)
zocrates-pane =
    .aria-label = Zocrates
zocrates-menu =
    .label = Die Bibliothek befragen (Zocrates)
zocrates-ask-selection = Zocrates dazu fragen

zocrates-preferences-service = Der Dienst
zocrates-preferences-start = Zocrates liest und durchsucht Ihre Bibliothek in einem eigenen Dienst auf diesem Rechner. Starten Sie ihn in einem Terminal mit „zocrates up“; das Plugin findet ihn dann von selbst.
zocrates-preferences-address = Adresse
zocrates-preferences-address-field =
    .placeholder = wird von selbst gefunden
    .title = Nur für einen Dienst, der woanders läuft
zocrates-preferences-key = Schlüssel
zocrates-preferences-key-field =
    .placeholder = wird von selbst gefunden
    .title = Nur mit eigener Adresse
zocrates-preferences-test = Verbindung prüfen
zocrates-preferences-leaves = Das Plugin spricht mit diesem Dienst und mit nichts anderem. Der Dienst arbeitet offline, bis Sie ein Sprachmodell einrichten; von da an gehen Fragen und Stellen aus Ihren Artikeln an dessen Anbieter.

zocrates-status-good = Verbunden mit { $address }.
zocrates-status-away = Der Dienst läuft nicht.
zocrates-status-key = { $address } nimmt den Schlüssel nicht an.
zocrates-status-refused = { $address } antwortete mit Status { $status }.
zocrates-status-failed = Es hat nicht geklappt: { $reason }

zocrates-preferences-library = Ihre Bibliothek
zocrates-preferences-local-api = Der Dienst liest eine Kopie von Zoteros Datenbank. Erreicht er Ihren Datenordner nicht, kann er Zotero selbst fragen, das dies erlauben muss.
zocrates-preferences-allow = Anderen Programmen auf diesem Rechner erlauben, Zoteros Daten zu lesen
zocrates-preferences-allowed = Erlaubt

zocrates-preferences-pane = Die Seitenleiste
zocrates-preferences-shortcut = Tastenkürzel
zocrates-preferences-shortcut-field =
    .title = Drücken Sie die Tasten, die die Leiste öffnen und schließen sollen
zocrates-preferences-scope = Gefragt wird
zocrates-preferences-scope-library = die ganze Bibliothek
zocrates-preferences-scope-shown = was Zotero zeigt

zocrates-preferences-data = Ihre Daten
zocrates-preferences-data-what = Gespräche verwahrt der Dienst. Dies löscht alle Ihre Gespräche mit ihren Belegen und alles, was das Plugin sich merkt. Ihre Bibliothek und gespeicherte Notizen bleiben, wie sie sind.
zocrates-preferences-delete = Alle Gespräche und Einstellungen löschen …
zocrates-delete-title = Alles löschen?
zocrates-delete-text = Alle Ihre Gespräche und die Einstellungen des Plugins werden gelöscht. Das lässt sich nicht rückgängig machen.
zocrates-deleted = { $count ->
    [one] Ein Gespräch gelöscht.
   *[other] { $count } Gespräche gelöscht.
}
