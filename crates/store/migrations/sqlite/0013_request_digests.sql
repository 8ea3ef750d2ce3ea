-- The SHA-256 of everything that an approval says about its call and that never changes; null in rows that earlier versions wrote.
ALTER TABLE approvals ADD COLUMN request_digest BLOB;
