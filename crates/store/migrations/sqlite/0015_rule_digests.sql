-- The SHA-256 of everything that a standing rule says and that never changes; null in rows that earlier versions wrote.
ALTER TABLE approval_rules ADD COLUMN rule_digest BLOB;
