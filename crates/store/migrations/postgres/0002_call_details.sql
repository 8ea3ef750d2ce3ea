-- What is kept of a call in addition to its audit row: the message of its failure and, where the config asks for it, its
-- arguments and result. Unlike audit rows they are deleted after `audit.keep`.
CREATE TABLE call_details (
    id        BYTEA  PRIMARY KEY,
    at_ms     BIGINT NOT NULL,
    message   TEXT,
    arguments TEXT,
    result    TEXT,
    truncated BIGINT NOT NULL
);

CREATE INDEX call_details_at ON call_details (at_ms);

-- Null for most calls: those that succeeded.
ALTER TABLE audit_rows ADD COLUMN detail BYTEA;

DROP VIEW audit;

CREATE VIEW audit AS
SELECT r.seq, r.trace, r.at_ms, k.tenant, k.owner, k.agent, k.door, k.tool, k.version, k.definition, r.arguments,
       k.decision, k.outcome, k.blame, r.duration_us, r.detail
FROM audit_rows r JOIN audit_kinds k ON k.id = r.kind;
