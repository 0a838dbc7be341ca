-- name: probe
-- A write, because a full disk or a read-only replica answers every SELECT.
UPDATE readiness SET at = clock_timestamp() WHERE single;

-- name: marks
SELECT name FROM schema_mark;

-- name: schema
SELECT current_setting('server_version'), (SELECT max(name) FROM schema_mark);

-- name: unwritten
-- Results that were accepted and that nobody has written yet, and since when the first of them waits.
SELECT count(*)::int, extract(epoch FROM clock_timestamp() - min(received_at))::float8
  FROM receipt
 WHERE organisation = %(organisation)s::uuid AND written_at IS NULL;
