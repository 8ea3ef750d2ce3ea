-- What each server listed last, as JSON, so that its tools are known before it has answered.
CREATE TABLE server_lists (
    server TEXT PRIMARY KEY,
    list   TEXT NOT NULL
);
