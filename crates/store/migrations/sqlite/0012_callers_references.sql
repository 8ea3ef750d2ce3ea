-- A reference is known to the caller whom a server gave it, and two servers may both have issued it.
DROP TABLE foreign_refs;

CREATE TABLE foreign_refs (
    tenant     TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    -- Empty for a caller who is no agent.
    agent      TEXT   NOT NULL,
    reference  TEXT   NOT NULL,
    server     TEXT   NOT NULL,
    uri        TEXT,
    expires_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, subject, agent, reference, server)
) WITHOUT ROWID;

CREATE INDEX foreign_refs_expiring ON foreign_refs (expires_ms);
CREATE INDEX foreign_refs_of_server ON foreign_refs (tenant, server);

-- The agent for whom a server lent the file.
ALTER TABLE files ADD COLUMN origin_agent TEXT;

-- The text of a file counts as well as the file.
ALTER TABLE files ADD COLUMN text_size BIGINT NOT NULL DEFAULT 0;

CREATE TRIGGER file_texts_come AFTER UPDATE OF text_size ON files
BEGIN
    UPDATE file_totals SET bytes = bytes + NEW.text_size - OLD.text_size WHERE tenant = NEW.tenant;
END;

DROP TRIGGER files_go;
CREATE TRIGGER files_go AFTER DELETE ON files
BEGIN
    UPDATE file_totals SET bytes = bytes - OLD.size - OLD.text_size WHERE tenant = OLD.tenant;
END;
