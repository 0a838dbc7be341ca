-- name: settle_in
-- Across organisations: there is one publication. It is there before anybody looks whose turn it is.
INSERT INTO publication (single) VALUES (true) ON CONFLICT DO NOTHING;

-- name: claim
-- Across organisations. The turn, if an edition is due (or wanted at once) and nobody has it. Who dies with it loses it
-- when its time is over.
UPDATE publication
   SET holder = %(process)s::uuid, until = clock_timestamp() + %(lease_s)s::int * interval '1 second',
       edition = edition + 1, due_at = clock_timestamp() + %(interval_s)s::int * interval '1 second'
 WHERE (due_at <= clock_timestamp() OR %(at_once)s::boolean)
   AND (until IS NULL OR until <= clock_timestamp())
RETURNING edition;

-- name: renew
-- Across organisations. Still ours? Asked before anything that readers see is replaced.
UPDATE publication
   SET until = clock_timestamp() + %(lease_s)s::int * interval '1 second'
 WHERE holder = %(process)s::uuid AND edition = %(edition)s::bigint AND until > clock_timestamp()
RETURNING edition;

-- name: finish
-- Across organisations. The turn is over; what went wrong, if anything did.
UPDATE publication
   SET holder = NULL, until = NULL, last_error = %(error)s::text,
       last_error_at = CASE WHEN %(error)s::text IS NULL THEN NULL ELSE clock_timestamp() END
 WHERE holder = %(process)s::uuid AND edition = %(edition)s::bigint;

-- name: keep
-- Across organisations. What was published; an older edition never takes the place of a newer one.
INSERT INTO artifact AS a (name, schema, version, path, edition, published_at, bytes, etag)
SELECT g.name, g.name, g.version, g.path, %(edition)s::bigint, %(published_at)s::timestamptz, g.bytes, g.etag
  FROM unnest(%(names)s::text[], %(versions)s::int[], %(paths)s::text[], %(sizes)s::bigint[], %(etags)s::text[])
       AS g (name, version, path, bytes, etag)
    ON CONFLICT (name) DO UPDATE
   SET schema = EXCLUDED.schema, version = EXCLUDED.version, path = EXCLUDED.path, edition = EXCLUDED.edition,
       published_at = EXCLUDED.published_at, bytes = EXCLUDED.bytes, etag = EXCLUDED.etag
 WHERE a.edition < EXCLUDED.edition;

-- name: published
-- Across organisations.
SELECT a.name, a.schema, a.version, a.path, a.edition, a.published_at, a.bytes, a.etag
  FROM artifact a
 ORDER BY a.name;

-- name: trouble
-- Across organisations.
SELECT p.last_error, p.last_error_at FROM publication p;

-- name: last
-- Across organisations. When artefacts were last published, in seconds since 1970.
SELECT coalesce(extract(epoch FROM max(a.published_at)), 0)::float8 FROM artifact a;

-- name: accounts
-- Across organisations. The states are those of account_now, which also knows names.
SELECT CASE WHEN l.expires_at > now() THEN 'using'
            WHEN a.standing <> 'active' THEN a.standing
            WHEN a.cooling_until > now() THEN 'cooling'
            ELSE 'active' END AS state,
       count(*)
  FROM account a
  LEFT JOIN lease l ON l.id = a.lease
 WHERE NOT a.moved
 GROUP BY state;

-- name: leases
-- Across organisations.
SELECT l.kind, count(*) FROM lease l WHERE l.expires_at > now() AND NOT l.moved GROUP BY l.kind;

-- name: seeds
-- Across organisations. Overdue is what has waited for longer than it waits between two visits.
SELECT CASE WHEN l.id IS NOT NULL THEN 'held'
            WHEN NOT s.enabled THEN 'off'
            WHEN s.next_due_at > now() THEN 'resting'
            WHEN s.next_due_at > now() - s.interval_seconds * interval '1 second' THEN 'due'
            ELSE 'overdue' END AS state,
       count(*)
  FROM seed s
  LEFT JOIN lease l ON l.id = s.lease AND l.expires_at > now()
 GROUP BY state;

-- name: live_jobs
-- Across organisations. By organisation all the same: that is how the index goes, and most jobs are over.
SELECT j.status, count(*)
  FROM organisation o
 CROSS JOIN LATERAL (SELECT h.status
                       FROM job h
                      WHERE h.organisation = o.id AND h.status IN ('pending', 'dispatched', 'processing')) AS j
 GROUP BY j.status;

-- name: oldest
-- Across organisations. How long the first task has been due that nobody began.
SELECT extract(epoch FROM now() - min(t.not_before))::float8
  FROM task t
 WHERE t.status = 'pending' AND t.ended_at IS NULL AND t.not_before <= now();

-- name: arrivals
-- Across organisations. In the hour that is on, and the 23 before it.
SELECT date_trunc('hour', j.created_at) AS hour, count(*)
  FROM organisation o
 CROSS JOIN LATERAL (SELECT h.created_at
                       FROM job h
                      WHERE h.organisation = o.id
                        AND h.created_at >= date_trunc('hour', now()) - interval '23 hours') AS j
 GROUP BY hour;

-- name: ends
-- Across organisations. In the same hours; and, of the last sixty minutes, apart.
SELECT date_trunc('hour', j.ended_at) AS hour, j.status, count(*),
       count(*) FILTER (WHERE j.ended_at > now() - interval '1 hour') AS lately
  FROM job j
 WHERE j.ended_at >= date_trunc('hour', now()) - interval '23 hours'
 GROUP BY hour, j.status;

-- name: dead_letters
-- Across organisations. Of the last day.
SELECT count(*)
  FROM organisation o
 CROSS JOIN LATERAL (SELECT FROM dead_letter d
                      WHERE d.organisation = o.id AND d.at > now() - interval '1 day') AS d;

-- name: captures
-- Across organisations. Those nobody has taken on, those nobody could, and those that came within a day.
SELECT count(*) FILTER (WHERE c.standing = 'received' AND c.lease IS NULL),
       count(*) FILTER (WHERE c.standing = 'stuck'),
       count(*) FILTER (WHERE c.received_at > now() - interval '1 day')
  FROM organisation o
 CROSS JOIN LATERAL (SELECT h.standing, h.lease, h.received_at
                       FROM capture h
                      WHERE h.organisation = o.id
                        AND (h.standing = 'stuck' OR (h.standing = 'received' AND h.lease IS NULL)
                             OR h.received_at > now() - interval '1 day')) AS c;

-- name: runs
-- Across organisations.
SELECT CASE WHEN r.sub_status = 'waiting' THEN 'waiting' ELSE r.status END AS state, r.pause_reason, count(*)
  FROM run r
 WHERE r.status IN ('running', 'paused') OR r.sub_status IS NOT NULL
 GROUP BY state, r.pause_reason;

-- name: spend
-- Across organisations. Since midnight, UTC.
SELECT coalesce(sum(l.spent_micros), 0)::bigint FROM run_ledger l WHERE l.at >= date_trunc('day', now());

-- name: graph
-- Across organisations. Counted in ways that need no row, only indexes.
SELECT (SELECT count(*) FROM entity) - (SELECT count(*) FROM entity e WHERE e.merged_into IS NOT NULL),
       (SELECT count(*) FROM source_record);

-- name: sources
-- Across organisations. Fresh is what came to the end of a sweep within a day.
SELECT count(*), count(*) FILTER (WHERE s.status = 'sweeping'), count(*) FILTER (WHERE s.status = 'failed'),
       count(*) FILTER (WHERE (s.last_sweep->>'ended_at')::timestamptz > now() - interval '1 day')
  FROM source s;

-- name: platforms
-- Across organisations. Paused by people, and resting because most of what they did failed.
SELECT (SELECT count(*) FROM platform_pause), (SELECT count(*) FROM platform_breaker);

-- name: moment
-- Across organisations. What all of the above is of.
SELECT now(), date_trunc('hour', now());
