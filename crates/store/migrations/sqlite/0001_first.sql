-- Audit rows: one per call, whatever the door. Numbers are never given twice, so a gap shows that a row is missing.
-- Ids and digests are raw bytes: they are most of a row. The values that thousands of rows have in common (caller, tool,
-- outcome) are stored once, as their kind: that halves what a call costs the disk and the processor.
CREATE TABLE audit_kinds (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The digest of the columns that follow.
    digest     BLOB NOT NULL UNIQUE,
    tenant     TEXT NOT NULL,
    owner      TEXT NOT NULL,
    agent      TEXT,
    door       TEXT NOT NULL,
    tool       TEXT NOT NULL,
    version    TEXT NOT NULL,
    definition BLOB,
    decision   TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    blame      TEXT
);

CREATE TABLE audit_rows (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    trace       BLOB    NOT NULL,
    at_ms       BIGINT  NOT NULL,
    kind        INTEGER NOT NULL,
    arguments   BLOB    NOT NULL,
    duration_us BIGINT  NOT NULL
);

-- Grows at its end only. Traces are random: an index that begins with them would write a page per row. A trace is found
-- by scanning this narrow index, which takes about a tenth of a second for a million rows.
CREATE INDEX audit_rows_at ON audit_rows (at_ms, trace);

CREATE VIEW audit AS
SELECT r.seq, r.trace, r.at_ms, k.tenant, k.owner, k.agent, k.door, k.tool, k.version, k.definition, r.arguments,
       k.decision, k.outcome, k.blame, r.duration_us
FROM audit_rows r JOIN audit_kinds k ON k.id = r.kind;

-- Append-only. Retention will replace `audit_keeps_rows` in a migration, for rows past a stored horizon only.
CREATE TRIGGER audit_keeps_values BEFORE UPDATE ON audit_rows
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

CREATE TRIGGER audit_keeps_rows BEFORE DELETE ON audit_rows
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

CREATE TRIGGER audit_keeps_kind_values BEFORE UPDATE ON audit_kinds
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

CREATE TRIGGER audit_keeps_kinds BEFORE DELETE ON audit_kinds
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

-- How many changes each writing process has committed; written with them, so that a retry knows whether they are stored.
CREATE TABLE audit_writers (
    writer  TEXT   PRIMARY KEY,
    written BIGINT NOT NULL,
    at_ms   BIGINT NOT NULL
);

-- Calls with an idempotency key: "begun" is committed before the tool runs, "answered" before the caller gets the answer.
CREATE TABLE call_records (
    id         INTEGER PRIMARY KEY,
    -- The digest over tenant, caller, tool and the caller's key.
    key        BLOB   NOT NULL UNIQUE,
    tenant     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    agent      TEXT,
    tool       TEXT   NOT NULL,
    arguments  BLOB   NOT NULL,
    state      TEXT   NOT NULL,
    -- Null while the call runs, and where the answer was too large or was dropped for newer ones.
    answer     TEXT,
    bytes      BIGINT NOT NULL,
    at_ms      BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
);

CREATE INDEX call_records_expiring ON call_records (expires_ms);
CREATE INDEX call_records_kept ON call_records (tenant, owner, agent, at_ms, bytes) WHERE bytes > 0;

-- Calls that have begun and not ended. A row is deleted with the commit of its audit row; rows that a crash left become
-- audit rows at the next start.
CREATE TABLE calls_begun (
    writer    TEXT    NOT NULL,
    number    BIGINT  NOT NULL,
    trace     BLOB    NOT NULL,
    at_ms     BIGINT  NOT NULL,
    kind      INTEGER NOT NULL,
    arguments BLOB    NOT NULL,
    PRIMARY KEY (writer, number)
) WITHOUT ROWID;

-- The gateway's own names for its tools. They belong to the gateway and to no tenant.
CREATE TABLE wire_names (
    tool_key  TEXT PRIMARY KEY,
    wire_name TEXT NOT NULL UNIQUE
);

-- The last list of each server, as JSON, so that its tools are known before it has answered.
CREATE TABLE server_lists (
    server TEXT PRIMARY KEY,
    list   TEXT NOT NULL
);

-- The first owner of each name of a registered server. The owner keeps it when the lease ends and the gateway restarts,
-- until the operator releases it.
CREATE TABLE server_names (
    name       TEXT   NOT NULL PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    claimed_ms BIGINT NOT NULL
);

-- Keys that the gateway issues. Only the hash of a secret is stored; revoked keys stay, so that the audit trail can be
-- read years later.
CREATE TABLE access_keys (
    id         TEXT   PRIMARY KEY,
    hash       BLOB   NOT NULL,
    name       TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    tenant     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    agent      TEXT,
    scopes     TEXT   NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    revoked_ms BIGINT,
    used_ms    BIGINT
);

-- A name is free again once its key is revoked.
CREATE UNIQUE INDEX access_keys_name ON access_keys (name) WHERE revoked_ms IS NULL;

-- Secrets for servers: tokens, and the clients that the gateway is registered as. `sealed` is encrypted and bound to the
-- other columns. Rows of the gateway itself have an empty tenant and owner.
CREATE TABLE vault (
    kind   TEXT   NOT NULL,
    server TEXT   NOT NULL,
    tenant TEXT   NOT NULL,
    owner  TEXT   NOT NULL,
    issuer TEXT   NOT NULL,
    sealed BLOB   NOT NULL,
    at_ms  BIGINT NOT NULL,
    PRIMARY KEY (kind, server, tenant, owner, issuer)
);

-- The definition of each server's tool when it was first seen or last approved. The whole definition is stored, so that
-- a change can be shown; `form` is the version of the digests, so that a later form does not make all tools look changed.
CREATE TABLE pins (
    server     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    form       INTEGER NOT NULL,
    digests    TEXT    NOT NULL,
    definition TEXT    NOT NULL,
    approved   BOOLEAN NOT NULL,
    at_ms      BIGINT  NOT NULL,
    PRIMARY KEY (server, tool)
);

-- Uploaded files, artifacts of runs, and references to large parts of answers. The bytes are in object storage: an object
-- is written before its row and removed after it, so that a row never refers to a missing object.
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
    -- The server whose answer it came from, what that server calls it, and the agent for which it was provided.
    origin_server TEXT,
    origin_ref    TEXT,
    origin_agent  TEXT,
    -- The text that was extracted from it, once it was asked for.
    text_object   TEXT,
    text_size     BIGINT NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE INDEX files_of_tenant ON files (tenant, created_ms, id);
CREATE INDEX files_expiring ON files (expires_ms) WHERE expires_ms IS NOT NULL;
CREATE INDEX files_by_origin ON files (tenant, origin_server, origin_ref) WHERE origin_ref IS NOT NULL;
CREATE INDEX files_by_object ON files (object);
CREATE INDEX files_by_text ON files (text_object) WHERE text_object IS NOT NULL;

-- The bytes of each tenant, maintained by triggers: checking a quota must not scan all of its files.
CREATE TABLE file_totals (
    tenant TEXT   NOT NULL PRIMARY KEY,
    bytes  BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER file_added AFTER INSERT ON files
BEGIN
    INSERT INTO file_totals (tenant, bytes) VALUES (NEW.tenant, NEW.size)
    ON CONFLICT (tenant) DO UPDATE SET bytes = bytes + NEW.size;
END;

CREATE TRIGGER file_text_added AFTER UPDATE OF text_size ON files
BEGIN
    UPDATE file_totals SET bytes = bytes + NEW.text_size - OLD.text_size WHERE tenant = NEW.tenant;
END;

CREATE TRIGGER file_removed AFTER DELETE ON files
BEGIN
    UPDATE file_totals SET bytes = bytes - OLD.size - OLD.text_size WHERE tenant = OLD.tenant;
END;

-- Uploads in parts. The length of its draft is the progress of an upload.
CREATE TABLE uploads (
    id         TEXT   NOT NULL PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    size       BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
) WITHOUT ROWID;

-- References that servers issued themselves, for the caller that received them. Two servers may issue the same one.
CREATE TABLE foreign_refs (
    tenant     TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    -- Empty for a caller that is not an agent.
    agent      TEXT   NOT NULL,
    reference  TEXT   NOT NULL,
    server     TEXT   NOT NULL,
    uri        TEXT,
    expires_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, subject, agent, reference, server)
) WITHOUT ROWID;

CREATE INDEX foreign_refs_expiring ON foreign_refs (expires_ms);
CREATE INDEX foreign_refs_of_server ON foreign_refs (tenant, server);

-- Calls that a person must approve. `arguments` is the canonical text that the person is shown and that runs;
-- `fingerprint` is the digest of caller, tool and arguments, so that a repeated call finds the decision about it.
CREATE TABLE approvals (
    id              TEXT    PRIMARY KEY,
    tenant          TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    agent           TEXT,
    -- Whether the credential that made the call could also decide.
    decider         BOOLEAN NOT NULL,
    tool            TEXT    NOT NULL,
    version         TEXT    NOT NULL,
    definition      BLOB    NOT NULL,
    -- The SHA-256 of the code that the call would run; null if it runs none of the gateway's host.
    code            BLOB,
    -- The caller's idempotency key, which reaches the tool.
    idempotency_key TEXT,
    arguments       TEXT    NOT NULL,
    arguments_sum   BLOB    NOT NULL,
    files           TEXT    NOT NULL,
    fingerprint     BLOB    NOT NULL,
    trace           TEXT    NOT NULL,
    run             TEXT,
    door            TEXT    NOT NULL,
    created_ms      BIGINT  NOT NULL,
    deadline_ms     BIGINT  NOT NULL,
    -- pending, approved, rejected, expired, consumed or cancelled
    state           TEXT    NOT NULL,
    decided_by      TEXT,
    decided_via     TEXT,
    reason          TEXT,
    decided_ms      BIGINT,
    -- Until when an approved call may use the approval.
    good_until_ms   BIGINT,
    -- Whether the decision was reported to the caller.
    reported        BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE INDEX approvals_fingerprint ON approvals (fingerprint) WHERE state IN ('pending', 'approved', 'rejected');
CREATE INDEX approvals_pending ON approvals (created_ms, id) WHERE state = 'pending';
CREATE INDEX approvals_pending_of ON approvals (tenant, owner, agent) WHERE state = 'pending';
CREATE INDEX approvals_of_tenant ON approvals (tenant, state, created_ms, id);
CREATE INDEX approvals_all ON approvals (created_ms, id);

-- Standing rules: approvals for all calls of a kind.
CREATE TABLE approval_rules (
    id            TEXT   PRIMARY KEY,
    tenant        TEXT   NOT NULL,
    -- The caller that the rule is about.
    owner         TEXT   NOT NULL,
    agent         TEXT,
    tool          TEXT   NOT NULL,
    definition    BLOB   NOT NULL,
    -- A rule covers only calls that would run the same code.
    code          BLOB,
    -- Null for any arguments.
    arguments_sum BLOB,
    arguments     TEXT,
    -- Null for any run.
    run           TEXT,
    created_by    TEXT   NOT NULL,
    created_ms    BIGINT NOT NULL,
    expires_ms    BIGINT NOT NULL,
    uses          BIGINT NOT NULL DEFAULT 0
);

-- Runs: the calls of one piece of work. A run without a name has none here; several of them may follow one another for
-- the same owner.
CREATE TABLE runs (
    seq        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    tenant     TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    agent      TEXT,
    kind       TEXT    NOT NULL,
    name       TEXT,
    state      TEXT    NOT NULL,
    summary    TEXT,
    -- A JSON array of file ids.
    artifacts  TEXT    NOT NULL,
    -- How many data tools have completed.
    data_tools BIGINT  NOT NULL,
    created_ms BIGINT  NOT NULL,
    touched_ms BIGINT  NOT NULL
);

CREATE INDEX runs_name ON runs (tenant, owner, kind, name);
CREATE INDEX runs_touched ON runs (touched_ms);

-- The calls of a run. `made` and `used` are JSON arrays of the references that a call returned and was given.
CREATE TABLE run_calls (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    run        TEXT    NOT NULL,
    trace      BLOB    NOT NULL,
    tool       TEXT    NOT NULL,
    started_ms BIGINT  NOT NULL,
    ended_ms   BIGINT  NOT NULL,
    outcome    TEXT    NOT NULL,
    made       TEXT    NOT NULL,
    used       TEXT    NOT NULL
);

CREATE INDEX run_calls_run ON run_calls (run, seq);

-- Questions of runs to people. A slot is asked once; a repeated question attaches to the first.
CREATE TABLE run_questions (
    seq         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    run         TEXT    NOT NULL,
    tenant      TEXT    NOT NULL,
    slot_id     TEXT    NOT NULL,
    slot_type   TEXT    NOT NULL,
    prompt      TEXT    NOT NULL,
    options     TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    answer      TEXT,
    answered_by TEXT,
    asked_ms    BIGINT  NOT NULL,
    settled_ms  BIGINT,
    UNIQUE (run, slot_id)
);
