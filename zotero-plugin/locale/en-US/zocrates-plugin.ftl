# What the plugin shows around the sidebar; the sidebar has strings of its own.

zocrates-sidenav =
    .title = Ask your library (Zocrates)
    .aria-label = Ask your library (Zocrates)
zocrates-pane =
    .aria-label = Zocrates
zocrates-menu =
    .label = Ask Your Library (Zocrates)
zocrates-ask-selection = Ask Zocrates about this

zocrates-preferences-service = The service
zocrates-preferences-start = Zocrates reads and searches your library in a service of its own on this machine. Start it in a terminal with “zocrates up”; the plugin then finds it by itself.
zocrates-preferences-address = Address
zocrates-preferences-address-field =
    .placeholder = found by itself
    .title = Only for a service that runs elsewhere
zocrates-preferences-key = Key
zocrates-preferences-key-field =
    .placeholder = found by itself
    .title = Only with an address of your own
zocrates-preferences-test = Test the connection
zocrates-preferences-leaves = The plugin talks to this service and to nothing else. The service works offline until you configure a language model; from then on, questions and passages of your papers go to that model’s provider.

zocrates-status-good = Connected to { $address }.
zocrates-status-away = The service is not running.
zocrates-status-key = { $address } does not accept the key.
zocrates-status-refused = { $address } answered with status { $status }.
zocrates-status-failed = It did not work: { $reason }

zocrates-preferences-library = Your library
zocrates-preferences-local-api = The service reads a copy of Zotero’s database. If it cannot reach your data folder, it can ask Zotero itself, which has to allow that.
zocrates-preferences-allow = Allow other applications on this computer to read Zotero’s data
zocrates-preferences-allowed = Allowed

zocrates-preferences-pane = The pane
zocrates-preferences-shortcut = Shortcut
zocrates-preferences-shortcut-field =
    .title = Press the keys that shall open and close the pane
zocrates-preferences-scope = Ask about
zocrates-preferences-scope-library = The whole library
zocrates-preferences-scope-shown = What Zotero shows

zocrates-preferences-data = Your data
zocrates-preferences-data-what = Conversations are kept by the service. This deletes all of yours, with their evidence, and everything the plugin remembers. Your library and the notes you saved stay as they are.
zocrates-preferences-delete = Delete all conversations and settings…
zocrates-delete-title = Delete everything?
zocrates-delete-text = All your conversations and the plugin’s settings will be deleted. This cannot be undone.
zocrates-deleted = { $count ->
    [one] One conversation deleted.
   *[other] { $count } conversations deleted.
}
