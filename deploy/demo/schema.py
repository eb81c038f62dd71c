"""The tables of a Zotero database that a reader of a library needs, in the shape of version 129."""

import sqlite3

USERDATA_VERSION = 129
VERSIONS = {"globalSchema": 41, "system": 32, "userdata": USERDATA_VERSION, "triggers": 18}

ITEM_TYPES = (
    "annotation",
    "attachment",
    "book",
    "bookSection",
    "conferencePaper",
    "journalArticle",
    "note",
    "preprint",
    "report",
    "webpage",
)

FIELDS = (
    "title",
    "abstractNote",
    "date",
    "DOI",
    "citationKey",
    "url",
    "accessDate",
    "language",
    "extra",
    "publicationTitle",
    "bookTitle",
    "proceedingsTitle",
    "websiteTitle",
    "volume",
    "issue",
    "pages",
    "edition",
    "publisher",
    "place",
    "ISBN",
    "ISSN",
    "institution",
    "reportNumber",
    "reportType",
    "repository",
)

CREATOR_TYPES = ("author", "contributor", "editor", "translator")

SYNC_OBJECT_TYPES = ("collection", "creator", "item", "search", "tag", "relation", "setting")

_TABLES = """
CREATE TABLE version (schema TEXT PRIMARY KEY, version INT NOT NULL);
CREATE TABLE settings (setting TEXT, key TEXT, value, PRIMARY KEY (setting, key));
CREATE TABLE libraries (
    libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT NOT NULL,
    filesEditable INT NOT NULL, version INT NOT NULL DEFAULT 0,
    clientVersion INT NOT NULL DEFAULT 0, storageVersion INT NOT NULL DEFAULT 0,
    lastSync INT NOT NULL DEFAULT 0, archived INT NOT NULL DEFAULT 0,
    isAdmin INT NOT NULL DEFAULT 0);
CREATE TABLE groups (
    groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE REFERENCES libraries (libraryID),
    name TEXT NOT NULL, description TEXT NOT NULL, version INT NOT NULL);
CREATE TABLE feeds (
    libraryID INTEGER PRIMARY KEY REFERENCES libraries (libraryID), name TEXT NOT NULL,
    url TEXT NOT NULL UNIQUE);
CREATE TABLE itemTypes (
    itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE itemTypesCombined (
    itemTypeID INTEGER PRIMARY KEY, typeName TEXT NOT NULL, display INT NOT NULL DEFAULT 1,
    custom INT NOT NULL);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE fieldsCombined (
    fieldID INTEGER PRIMARY KEY, fieldName TEXT NOT NULL, label TEXT, fieldFormatID INT,
    custom INT NOT NULL);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE charsets (charsetID INTEGER PRIMARY KEY, charset TEXT UNIQUE);
CREATE TABLE items (
    itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP NOT NULL,
    dateModified TIMESTAMP NOT NULL, clientDateModified TIMESTAMP NOT NULL,
    libraryID INT NOT NULL REFERENCES libraries (libraryID), key TEXT NOT NULL,
    version INT NOT NULL DEFAULT 0, clientVersion INT NOT NULL DEFAULT 0,
    synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE, valueNormalized TEXT);
CREATE TABLE itemData (
    itemID INT REFERENCES items (itemID), fieldID INT REFERENCES fieldsCombined (fieldID),
    valueID INT REFERENCES itemDataValues (valueID), PRIMARY KEY (itemID, fieldID));
CREATE TABLE creators (
    creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT,
    firstNameNormalized TEXT, lastNameNormalized TEXT, UNIQUE (lastName, firstName, fieldMode));
CREATE TABLE itemCreators (
    itemID INT NOT NULL REFERENCES items (itemID),
    creatorID INT NOT NULL REFERENCES creators (creatorID),
    creatorTypeID INT NOT NULL REFERENCES creatorTypes (creatorTypeID),
    orderIndex INT NOT NULL DEFAULT 0,
    PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex), UNIQUE (itemID, orderIndex));
CREATE TABLE itemAttachments (
    itemID INTEGER PRIMARY KEY REFERENCES items (itemID), parentItemID INT, linkMode INT,
    contentType TEXT, charsetID INT, path TEXT, syncState INT DEFAULT 0, storageModTime INT,
    storageHash TEXT, lastProcessedModificationTime INT, lastRead INT);
CREATE TABLE itemNotes (
    itemID INTEGER PRIMARY KEY REFERENCES items (itemID), parentItemID INT, note TEXT, title TEXT);
CREATE TABLE itemAnnotations (
    itemID INTEGER PRIMARY KEY REFERENCES items (itemID),
    parentItemID INT NOT NULL REFERENCES itemAttachments (itemID), type INTEGER NOT NULL,
    authorName TEXT, text TEXT, textNormalized TEXT, comment TEXT, commentNormalized TEXT,
    color TEXT, pageLabel TEXT, sortIndex TEXT NOT NULL, position TEXT NOT NULL,
    isExternal INT NOT NULL);
CREATE TABLE collections (
    collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL,
    parentCollectionID INT REFERENCES collections (collectionID),
    clientDateModified TIMESTAMP NOT NULL,
    libraryID INT NOT NULL REFERENCES libraries (libraryID), key TEXT NOT NULL,
    version INT NOT NULL DEFAULT 0, clientVersion INT NOT NULL DEFAULT 0,
    synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE collectionItems (
    collectionID INT NOT NULL REFERENCES collections (collectionID),
    itemID INT NOT NULL REFERENCES items (itemID), orderIndex INT NOT NULL DEFAULT 0,
    PRIMARY KEY (collectionID, itemID));
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, nameNormalized TEXT);
CREATE TABLE itemTags (
    itemID INT NOT NULL REFERENCES items (itemID), tagID INT NOT NULL REFERENCES tags (tagID),
    type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE deletedItems (
    itemID INTEGER PRIMARY KEY REFERENCES items (itemID), dateDeleted NOT NULL);
CREATE TABLE deletedCollections (
    collectionID INTEGER PRIMARY KEY REFERENCES collections (collectionID), dateDeleted NOT NULL);
CREATE TABLE relationPredicates (predicateID INTEGER PRIMARY KEY, predicate TEXT UNIQUE);
CREATE TABLE itemRelations (
    itemID INT NOT NULL REFERENCES items (itemID), predicateID INT NOT NULL, object TEXT NOT NULL,
    PRIMARY KEY (itemID, predicateID, object));
CREATE TABLE feedItems (
    itemID INTEGER PRIMARY KEY REFERENCES items (itemID), guid TEXT NOT NULL UNIQUE,
    readTime TIMESTAMP, translatedTime TIMESTAMP);
CREATE TABLE groupItems (
    itemID INTEGER PRIMARY KEY REFERENCES items (itemID), createdByUserID INT,
    lastModifiedByUserID INT);
CREATE TABLE publicationsItems (itemID INTEGER PRIMARY KEY);
CREATE TABLE fulltextItems (
    itemID INTEGER PRIMARY KEY REFERENCES items (itemID), indexedPages INT, totalPages INT,
    indexedChars INT, totalChars INT, version INT NOT NULL DEFAULT 0,
    synced INT NOT NULL DEFAULT 0);
CREATE TABLE syncObjectTypes (syncObjectTypeID INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE syncDeleteLog (
    syncObjectTypeID INT NOT NULL, libraryID INT NOT NULL, key TEXT NOT NULL,
    dateDeleted TEXT NOT NULL, UNIQUE (syncObjectTypeID, libraryID, key));
"""


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty database and fill in its vocabulary."""
    connection.executescript(_TABLES)
    connection.executemany("INSERT INTO version VALUES (?, ?)", VERSIONS.items())
    for number, name in enumerate(ITEM_TYPES, start=1):
        connection.execute("INSERT INTO itemTypes VALUES (?, ?, NULL, 1)", (number, name))
        connection.execute("INSERT INTO itemTypesCombined VALUES (?, ?, 1, 0)", (number, name))
    for number, name in enumerate(FIELDS, start=1):
        connection.execute("INSERT INTO fields VALUES (?, ?, NULL)", (number, name))
        connection.execute(
            "INSERT INTO fieldsCombined VALUES (?, ?, NULL, NULL, 0)", (number, name)
        )
    _fill(connection, "creatorTypes", CREATOR_TYPES)
    _fill(connection, "syncObjectTypes", SYNC_OBJECT_TYPES)
    _fill(connection, "charsets", ("utf-8",))
    _fill(connection, "relationPredicates", ("dc:relation",))


def _fill(connection: sqlite3.Connection, table: str, names: tuple[str, ...]) -> None:
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", enumerate(names, start=1))
