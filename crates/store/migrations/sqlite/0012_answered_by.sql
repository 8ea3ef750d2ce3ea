-- The server whose own words the message is; null where the gateway wrote it.
ALTER TABLE call_details ADD COLUMN answered_by TEXT;
