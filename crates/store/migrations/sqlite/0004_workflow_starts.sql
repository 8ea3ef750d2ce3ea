-- Why the author of a workflow's task wants a person to approve it.
ALTER TABLE approvals ADD COLUMN request_reason TEXT;

-- The digest of what a workflow was started with: the same idempotency key with something else is refused. Null for
-- workflows that were started before this column.
ALTER TABLE workflow_dags ADD COLUMN start_sum BLOB;
ALTER TABLE workflow_answers ADD COLUMN start_sum BLOB;

-- A new process takes over the running workflows only.
CREATE INDEX workflow_dags_running ON workflow_dags (created_at) WHERE phase = 'running';
