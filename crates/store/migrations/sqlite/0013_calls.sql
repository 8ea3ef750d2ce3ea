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
    -- None while the call runs, and where the answer was too large or had to make room.
    answer     TEXT,
    bytes      BIGINT NOT NULL,
    at_ms      BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
);

CREATE INDEX call_records_expiring ON call_records (expires_ms);
CREATE INDEX call_records_kept ON call_records (tenant, owner, agent, at_ms, bytes) WHERE bytes > 0;

-- Calls that have begun and not ended. A row is removed with the commit of its audit row; what is left after a crash
-- becomes an audit row of its own at the next start.
CREATE TABLE calls_begun (
    writer    TEXT    NOT NULL,
    number    BIGINT  NOT NULL,
    trace     BLOB    NOT NULL,
    at_ms     BIGINT  NOT NULL,
    kind      INTEGER NOT NULL,
    arguments BLOB    NOT NULL,
    PRIMARY KEY (writer, number)
) WITHOUT ROWID;
