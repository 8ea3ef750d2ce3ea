-- What a run has stored is found again after a crash, and listed with the run.
CREATE INDEX files_by_run ON files (tenant, run) WHERE run IS NOT NULL;
