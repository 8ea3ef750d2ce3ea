-- What the gateway must keep secret for its servers: tokens and the clients that it was registered as. `sealed` is
-- encrypted, and bound to the other columns. The gateway's own rows have an empty tenant and owner.
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
