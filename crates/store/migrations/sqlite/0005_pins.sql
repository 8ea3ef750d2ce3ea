-- What each tool of a server said of itself when it was first seen or last approved. The whole definition is kept, so
-- that a change can be shown; `form` says how it was summed, so that a later form need not take all tools for changed.
CREATE TABLE pins (
    server     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    form       INTEGER NOT NULL,
    sums       TEXT    NOT NULL,
    definition TEXT    NOT NULL,
    approved   INTEGER NOT NULL,
    at_ms      BIGINT  NOT NULL,
    PRIMARY KEY (server, tool)
);
