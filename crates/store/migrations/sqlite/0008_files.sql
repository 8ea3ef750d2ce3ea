-- Files that were handed in, artifacts that runs made, and references to large parts of answers. The bytes lie in object
-- storage: an object is written before its row and removed after it, so that a row never names what is not there.
CREATE TABLE files (
    id            TEXT   NOT NULL PRIMARY KEY,
    tenant        TEXT   NOT NULL,
    owner         TEXT   NOT NULL,
    kind          TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    media_type    TEXT   NOT NULL,
    size          BIGINT NOT NULL,
    sha256        BLOB   NOT NULL,
    object        TEXT   NOT NULL,
    created_ms    BIGINT NOT NULL,
    expires_ms    BIGINT,
    run           TEXT,
    -- The server whose answer it came from, and what that server calls it.
    origin_server TEXT,
    origin_ref    TEXT,
    -- The text that was extracted from it, once somebody asked.
    text_object   TEXT
) WITHOUT ROWID;

CREATE INDEX files_of_tenant ON files (tenant, created_ms, id);
CREATE INDEX files_expiring ON files (expires_ms) WHERE expires_ms IS NOT NULL;
CREATE INDEX files_by_origin ON files (tenant, origin_server, origin_ref) WHERE origin_ref IS NOT NULL;
CREATE INDEX files_by_object ON files (object);
CREATE INDEX files_by_text ON files (text_object) WHERE text_object IS NOT NULL;

-- What a tenant keeps, counted as it comes and goes: a quota must not cost a walk over all of its files.
CREATE TABLE file_totals (
    tenant TEXT   NOT NULL PRIMARY KEY,
    bytes  BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER files_come AFTER INSERT ON files
BEGIN
    INSERT INTO file_totals (tenant, bytes) VALUES (NEW.tenant, NEW.size)
    ON CONFLICT (tenant) DO UPDATE SET bytes = bytes + NEW.size;
END;

CREATE TRIGGER files_go AFTER DELETE ON files
BEGIN
    UPDATE file_totals SET bytes = bytes - OLD.size WHERE tenant = OLD.tenant;
END;

-- Uploads that come in parts. How far one has come is the length of its draft.
CREATE TABLE uploads (
    id         TEXT   NOT NULL PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    size       BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
) WITHOUT ROWID;
