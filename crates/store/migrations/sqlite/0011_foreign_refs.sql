-- References that servers issued themselves: which server keeps what, and where it can be read.
CREATE TABLE foreign_refs (
    tenant     TEXT   NOT NULL,
    reference  TEXT   NOT NULL,
    server     TEXT   NOT NULL,
    uri        TEXT,
    expires_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, reference)
) WITHOUT ROWID;

CREATE INDEX foreign_refs_expiring ON foreign_refs (expires_ms);
