-- Calls that a person must approve. `arguments` is the canonical text that the person is shown and that runs;
-- `fingerprint` sums up who calls what with which arguments, so that a repeated call finds what was decided about it.
CREATE TABLE approvals (
    id             TEXT    PRIMARY KEY,
    tenant         TEXT    NOT NULL,
    owner          TEXT    NOT NULL,
    agent          TEXT,
    -- Whether the credential that made the call could also decide.
    decider        INTEGER NOT NULL,
    tool           TEXT    NOT NULL,
    version        TEXT    NOT NULL,
    definition     BLOB    NOT NULL,
    arguments      TEXT    NOT NULL,
    arguments_sum  BLOB    NOT NULL,
    files          TEXT    NOT NULL,
    fingerprint    BLOB    NOT NULL,
    trace          TEXT    NOT NULL,
    run            TEXT,
    door           TEXT    NOT NULL,
    created_ms     BIGINT  NOT NULL,
    deadline_ms    BIGINT  NOT NULL,
    -- pending, approved, rejected, expired, consumed or cancelled
    state          TEXT    NOT NULL,
    decided_by     TEXT,
    decided_via    TEXT,
    reason         TEXT,
    decided_ms     BIGINT,
    -- Until when an approval may be used that nobody has used yet.
    good_until_ms  BIGINT,
    -- Whether the caller has heard what was decided.
    told           INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX approvals_fingerprint ON approvals (fingerprint) WHERE state IN ('pending', 'approved', 'rejected');
CREATE INDEX approvals_pending ON approvals (created_ms, id) WHERE state = 'pending';
CREATE INDEX approvals_pending_of ON approvals (tenant, owner, agent) WHERE state = 'pending';
CREATE INDEX approvals_of_tenant ON approvals (tenant, state, created_ms, id);
CREATE INDEX approvals_all ON approvals (created_ms, id);

-- What a person said once for all calls of a kind.
CREATE TABLE approval_rules (
    id            TEXT   PRIMARY KEY,
    tenant        TEXT   NOT NULL,
    -- The caller that the rule is about.
    owner         TEXT   NOT NULL,
    agent         TEXT,
    tool          TEXT   NOT NULL,
    definition    BLOB   NOT NULL,
    -- None for any arguments.
    arguments_sum BLOB,
    arguments     TEXT,
    -- None for any run.
    run           TEXT,
    created_by    TEXT   NOT NULL,
    created_ms    BIGINT NOT NULL,
    expires_ms    BIGINT NOT NULL,
    uses          BIGINT NOT NULL DEFAULT 0
);
