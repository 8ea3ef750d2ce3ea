-- Workflows that have not ended. Times are milliseconds since 1970. Texts that are JSON are stored as they are written.
CREATE TABLE workflow_dags (
    workflow_id   TEXT   NOT NULL PRIMARY KEY,
    run           TEXT   NOT NULL,
    tenant        TEXT   NOT NULL,
    owner         TEXT   NOT NULL,
    agent         TEXT,
    -- JSON: the owner with its scopes and how it was authenticated, so that it can be checked again.
    principal     TEXT   NOT NULL,
    -- The caller's idempotency key: the same caller and key get the same workflow.
    client_key    TEXT,
    dag           TEXT   NOT NULL,
    intent        TEXT,
    config        TEXT   NOT NULL,
    state         TEXT   NOT NULL,
    -- running or paused
    phase         TEXT   NOT NULL,
    control_calls TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    -- The process that drives the workflow. Each claim raises `fence`, and a write with an older fence changes nothing.
    lease_owner   TEXT,
    lease_until   BIGINT NOT NULL,
    fence         BIGINT NOT NULL
);

CREATE UNIQUE INDEX workflow_dags_client_key ON workflow_dags (tenant, owner, COALESCE(agent, ''), client_key)
    WHERE client_key IS NOT NULL;
CREATE INDEX workflow_dags_tenant ON workflow_dags (tenant, created_at);
CREATE INDEX workflow_dags_expiring ON workflow_dags (expires_at) WHERE phase = 'paused';

-- The state of each task and of each of its items; `item` is -1 for the task itself. `output` is apart from `result`
-- because it may be large and is seldom needed.
CREATE TABLE workflow_tasks (
    workflow_id TEXT   NOT NULL,
    task        TEXT   NOT NULL,
    item        BIGINT NOT NULL,
    status      TEXT   NOT NULL,
    attempt     BIGINT NOT NULL,
    result      TEXT   NOT NULL,
    started_at  BIGINT NOT NULL,
    ended_at    BIGINT,
    output      TEXT,
    PRIMARY KEY (workflow_id, task, item)
);

-- What a paused workflow answers; the newest of each layer.
CREATE TABLE workflow_checkpoints (
    workflow_id   TEXT   NOT NULL,
    layer         BIGINT NOT NULL,
    checkpoint_id TEXT   NOT NULL,
    kind          TEXT   NOT NULL,
    answer        TEXT   NOT NULL,
    PRIMARY KEY (workflow_id, layer)
);

-- The last answer of a workflow that has ended, until `expires_at`.
CREATE TABLE workflow_answers (
    workflow_id TEXT   NOT NULL PRIMARY KEY,
    tenant      TEXT   NOT NULL,
    owner       TEXT   NOT NULL,
    agent       TEXT,
    client_key  TEXT,
    answer      TEXT   NOT NULL,
    expires_at  BIGINT NOT NULL
);

CREATE INDEX workflow_answers_client_key ON workflow_answers (tenant, owner, client_key)
    WHERE client_key IS NOT NULL;
CREATE INDEX workflow_answers_expiring ON workflow_answers (expires_at);

-- The journal of a workflow, which is kept with its run.
CREATE TABLE workflow_events (
    run    TEXT   NOT NULL,
    number BIGINT NOT NULL,
    at_ms  BIGINT NOT NULL,
    kind   TEXT   NOT NULL,
    data   TEXT   NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
