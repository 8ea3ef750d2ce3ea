-- Collections of text that can be searched. They belong to a tenant; the name `run_…` is that of the run to which a
-- collection belongs and with which it is deleted.
CREATE TABLE collections (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    -- The number of chunks, of those with a vector, their bytes, and the sum of their lengths in words.
    chunks     BIGINT NOT NULL,
    vectors    BIGINT NOT NULL,
    bytes      BIGINT NOT NULL,
    words      BIGINT NOT NULL,
    -- Codes with a space between them: chunks are stemmed by their language, queries by all of them.
    languages  TEXT   NOT NULL,
    -- The model of the vectors.
    model      TEXT,
    dimensions BIGINT,
    -- Grows with every change; `removed` is the last one that took vectors away.
    revision   BIGINT NOT NULL,
    removed    BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    UNIQUE (tenant, name)
);

-- `terms` are the stems of the text with spaces between them, as letters and digits only. `seq` is never used
-- twice.
CREATE TABLE collection_chunks (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT    NOT NULL,
    collection INTEGER NOT NULL,
    id         TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    terms      TEXT    NOT NULL,
    length     BIGINT  NOT NULL,
    bytes      BIGINT  NOT NULL,
    -- JSON with each key on a line of its own, so that a key and its value can be looked for.
    meta       TEXT    NOT NULL,
    source     TEXT,
    -- Numbers of 32 bits, the lowest byte first.
    vector     BLOB,
    UNIQUE (collection, id)
);

CREATE INDEX collection_chunks_source ON collection_chunks (collection, source);

-- How many chunks of a collection have a term.
CREATE TABLE collection_terms (
    tenant     TEXT    NOT NULL,
    collection INTEGER NOT NULL,
    term       TEXT    NOT NULL,
    df         BIGINT  NOT NULL,
    PRIMARY KEY (collection, term)
) WITHOUT ROWID;

-- The terms of each chunk under its `seq`. Each term begins with the number of its collection, so that a search reads
-- nothing of other collections.
CREATE VIRTUAL TABLE collection_words USING fts5(terms, content='', contentless_delete=1, tokenize='unicode61');
