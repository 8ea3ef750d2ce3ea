-- How many processes died while they drove the workflow: since its last committed result, and in all. A workflow that
-- keeps ending processes is quarantined; see `Crashes`.
ALTER TABLE workflow_dags ADD COLUMN crashes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow_dags ADD COLUMN crashes_in_all BIGINT NOT NULL DEFAULT 0;
