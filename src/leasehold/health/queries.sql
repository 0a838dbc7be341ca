-- name: probe
-- A write, because a full disk or a read-only replica answers every SELECT.
UPDATE readiness SET at = clock_timestamp() WHERE single;

-- name: marks
SELECT name FROM schema_mark;
