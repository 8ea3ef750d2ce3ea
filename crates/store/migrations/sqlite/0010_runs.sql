-- Runs: what calls of one piece of work have in common. A run that nobody named has no name; several of them may follow
-- one another for the same owner.
CREATE TABLE runs (
    id         TEXT   PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    agent      TEXT,
    kind       TEXT   NOT NULL,
    name       TEXT,
    state      TEXT   NOT NULL,
    summary    TEXT,
    -- A JSON array of file ids.
    artifacts  TEXT   NOT NULL,
    -- How many data tools have completed.
    data_tools BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    touched_ms BIGINT NOT NULL
);

CREATE INDEX runs_name ON runs (tenant, owner, kind, name);
CREATE INDEX runs_touched ON runs (touched_ms);

-- The calls of a run. `made` and `used` are JSON arrays of the references that a call gave out and took in.
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

-- What runs ask people. A slot is asked once; whoever asks again attaches to the question.
CREATE TABLE run_questions (
    id          TEXT   PRIMARY KEY,
    run         TEXT   NOT NULL,
    tenant      TEXT   NOT NULL,
    slot_id     TEXT   NOT NULL,
    slot_type   TEXT   NOT NULL,
    prompt      TEXT   NOT NULL,
    options     TEXT   NOT NULL,
    state       TEXT   NOT NULL,
    answer      TEXT,
    answered_by TEXT,
    asked_ms    BIGINT NOT NULL,
    settled_ms  BIGINT,
    UNIQUE (run, slot_id)
);
