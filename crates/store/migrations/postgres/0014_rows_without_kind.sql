-- Also rows whose kind cannot be found, so that a list can say that they are damaged.
DROP VIEW audit;

CREATE VIEW audit AS
SELECT r.seq, r.trace, r.at_ms, k.tenant, k.owner, k.agent, k.door, k.tool, k.version, k.definition, r.arguments,
       k.decision, k.outcome, k.blame, r.duration_us, r.detail
FROM audit_rows r LEFT JOIN audit_kinds k ON k.id = r.kind;
