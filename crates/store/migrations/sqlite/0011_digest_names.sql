-- The columns hold SHA-256 digests.
ALTER TABLE approvals RENAME COLUMN arguments_sum TO arguments_digest;
ALTER TABLE approval_rules RENAME COLUMN arguments_sum TO arguments_digest;
ALTER TABLE workflow_dags RENAME COLUMN start_sum TO start_digest;
ALTER TABLE workflow_answers RENAME COLUMN start_sum TO start_digest;
