-- One row per call, whatever the door. Numbers are never given twice, so a gap shows that something is missing.
-- Ids and hashes are raw bytes: they are most of a row.
CREATE TABLE audit (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    trace       BLOB    NOT NULL,
    at_ms       BIGINT  NOT NULL,
    tenant      TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    agent       TEXT,
    door        TEXT    NOT NULL,
    tool        TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    definition  BLOB,
    arguments   BLOB    NOT NULL,
    decision    TEXT    NOT NULL,
    outcome     TEXT    NOT NULL,
    blame       TEXT,
    duration_us BIGINT  NOT NULL
);

-- Grows at its end only. Traces are random: an index led by them would write a page per row. A trace is found by
-- reading this narrow index through, which takes about a tenth of a second for a million rows.
CREATE INDEX audit_at ON audit (at_ms, trace);

-- Append-only. Whoever adds retention replaces `audit_keeps_rows` in a migration of its own, for rows past a stored horizon only.
CREATE TRIGGER audit_keeps_values BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

CREATE TRIGGER audit_keeps_rows BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

-- How far each writing process has come; written with its rows, so that a retry knows whether they are in already.
CREATE TABLE audit_writers (
    writer  TEXT   PRIMARY KEY,
    written BIGINT NOT NULL,
    at_ms   BIGINT NOT NULL
);

-- The gateway's own names for its tools. They belong to the gateway and to no tenant.
CREATE TABLE wire_names (
    tool_key  TEXT PRIMARY KEY,
    wire_name TEXT NOT NULL UNIQUE
);
