-- Outputs that complete workflows of a tenant used as arguments. `count` is in thousandths, as of `last_ms`: older
-- observations count less.
CREATE TABLE plan_edges (
    tenant      TEXT NOT NULL,
    from_tool   TEXT NOT NULL,
    from_field  TEXT NOT NULL,
    to_tool     TEXT NOT NULL,
    to_argument TEXT NOT NULL,
    count       BIGINT NOT NULL,
    last_ms     BIGINT NOT NULL,
    PRIMARY KEY (tenant, from_tool, from_field, to_tool, to_argument)
);
