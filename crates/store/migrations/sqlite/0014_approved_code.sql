-- What else an approval covers: the caller's idempotency key, which reaches the tool, and the SHA-256 of the code that
-- the call would run. Both are null where there is none.
ALTER TABLE approvals ADD COLUMN idempotency_key TEXT;
ALTER TABLE approvals ADD COLUMN code BLOB;
-- A standing rule covers only calls that would run the same code.
ALTER TABLE approval_rules ADD COLUMN code BLOB;
