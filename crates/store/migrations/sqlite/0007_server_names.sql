-- Who registered a server under a name first. The name stays theirs when the lease ends and the gateway restarts, until the
-- operator releases it.
CREATE TABLE server_names (
    name    TEXT   NOT NULL PRIMARY KEY,
    tenant  TEXT   NOT NULL,
    owner   TEXT   NOT NULL,
    held_ms BIGINT NOT NULL
);
