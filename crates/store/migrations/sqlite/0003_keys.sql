-- Keys that the gateway itself gives out. Of a secret only its hash is kept; revoked keys stay, so that the audit trail
-- can be read years later.
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
