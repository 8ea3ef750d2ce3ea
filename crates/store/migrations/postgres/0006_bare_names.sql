-- Which tools a bare name belongs to: ids with a space between them, the first server's tool first. Several ids mean that
-- the servers had the name at the same time, so that it names none of them.
CREATE TABLE bare_names (
    name   TEXT NOT NULL PRIMARY KEY,
    owners TEXT NOT NULL
);
