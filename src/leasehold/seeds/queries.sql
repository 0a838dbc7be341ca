-- name: run_out
-- Seeds whose lease may have run out. Nobody waits for anybody here. The time of the statement, not of the clock: only
-- that can be looked up in the index, and a little too early is harmless.
SELECT s.id, s.site, s.priority, s.lease, l.expires_at <= clock_timestamp() AS ran_out
  FROM (SELECT id, site, priority, lease
          FROM seed
         WHERE organisation = %(organisation)s::uuid AND back_at <= statement_timestamp() AND back_at IS NOT NULL
         ORDER BY back_at
         LIMIT %(limit)s::int
           FOR UPDATE SKIP LOCKED) s
  JOIN lease l ON l.id = s.lease AND l.organisation = %(organisation)s::uuid;

-- name: defer
-- Their leases were renewed meanwhile: look again when those run out.
UPDATE seed s
   SET back_at = l.expires_at
  FROM lease l
 WHERE s.organisation = %(organisation)s::uuid AND s.id = ANY(%(ids)s::uuid[])
   AND l.organisation = %(organisation)s::uuid AND l.id = s.lease;

-- name: beds
-- Where something is due and may be handed out: higher priority first, then the bed that waits longest since it fell due
-- or was served. The inner part is sorted and the outer part goes along it and stops early, so that limits are looked at
-- for few sites only.
SELECT bed.site, bed.priority, bed.waits_since, nullif(bed.served_at, '-infinity') AS served_at, open.is_limited
  FROM (SELECT site, priority, served_at, greatest(served_at, head_due_at) AS waits_since
          FROM seed_bed
         WHERE organisation = %(organisation)s::uuid AND head_due_at <= statement_timestamp()
           AND (%(sites)s::text[] IS NULL OR site = ANY(%(sites)s::text[]))
         ORDER BY priority DESC, waits_since, site
        OFFSET 0) bed
 CROSS JOIN LATERAL (
        SELECT s.seed_concurrency IS NOT NULL OR s.min_interval_ms > 0 AS is_limited
          FROM site s
         WHERE s.organisation = %(organisation)s::uuid AND s.slug = bed.site AND s.paused_at IS NULL
           AND (s.min_interval_ms = 0
                OR NOT EXISTS (SELECT
                                 FROM seed_bed o
                                WHERE o.organisation = %(organisation)s::uuid AND o.site = bed.site
                                  AND o.served_at
                                      > clock_timestamp() - s.min_interval_ms * interval '1 millisecond'))
           AND (s.seed_concurrency IS NULL
                OR s.seed_concurrency > (SELECT count(*)
                                           FROM lease l
                                          WHERE l.organisation = %(organisation)s::uuid AND l.site = bed.site
                                            AND l.kind = 'seed'))
        OFFSET 0) open
 ORDER BY bed.priority DESC, bed.waits_since, bed.site
 LIMIT %(limit)s::int;

-- name: guard
-- Grants at a site with a limit go one batch after the other: `count(*) < cap` alone is overtaken under load.
SELECT pg_advisory_xact_lock(hashtextextended(%(organisation)s::uuid || ' ' || wanted.site, 3))
  FROM (SELECT site FROM unnest(%(sites)s::text[]) AS given (site) ORDER BY site OFFSET 0) wanted;

-- name: rooms
-- How many seeds may be handed out at these sites, asked under their guard. A lease that looks run out counts until it is
-- settled: somebody may be about to commit its renewal.
SELECT s.slug,
       least(CASE WHEN s.seed_concurrency IS NULL THEN NULL ELSE s.seed_concurrency - (
                 SELECT count(*)
                   FROM lease l
                  WHERE l.organisation = %(organisation)s::uuid AND l.site = s.slug AND l.kind = 'seed') END,
             CASE WHEN s.min_interval_ms = 0 THEN NULL
                  WHEN (SELECT max(o.served_at)
                          FROM seed_bed o
                         WHERE o.organisation = %(organisation)s::uuid AND o.site = s.slug)
                       > clock_timestamp() - s.min_interval_ms * interval '1 millisecond' THEN 0
                  ELSE 1 END)::int AS room
  FROM site s
 WHERE s.organisation = %(organisation)s::uuid AND s.slug = ANY(%(sites)s::text[]);

-- name: pick
-- Due seeds of each bed, the longest overdue first. What another batch looks at is stepped over.
SELECT wish.number, s.id, s.site, s.sub, s.rest, s.original_url, s.kind, s.priority, s.interval_seconds,
       s.min_interval_seconds, s.max_interval_seconds, s.next_due_at, s.cursor, s.labels, s.enabled,
       s.consecutive_failures, s.last_outcome, s.last_found, s.last_visited_at, s.created_at, s.updated_at, s.fence
  FROM unnest(%(sites)s::text[], %(priorities)s::int[], %(labels)s::text[], %(counts)s::int[])
       WITH ORDINALITY AS wish (site, priority, labels, wanted, number)
 CROSS JOIN LATERAL (
        SELECT *
          FROM seed
         WHERE organisation = %(organisation)s::uuid AND site = wish.site AND priority = wish.priority
           AND enabled AND lease IS NULL AND next_due_at <= statement_timestamp()
           AND (wish.labels IS NULL OR labels @> wish.labels::jsonb)
           AND (%(known)s::uuid[] IS NULL OR id <> ALL(%(known)s::uuid[]))
         ORDER BY next_due_at, id
         LIMIT wish.wanted
           FOR UPDATE SKIP LOCKED) s;

-- name: take
-- The leases are granted; the seeds say so. Only the next grant after the last can be noted: any other, held or ended, has
-- raised the fence.
UPDATE seed s
   SET lease = l.id, fence = l.fence, back_at = l.expires_at
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[])
   AND s.organisation = %(organisation)s::uuid AND s.id = l.resource AND s.fence = l.fence - 1;

-- name: hold_beds
-- Before they are looked at again: whoever frees a seed of theirs has committed it by then, or lowers them afterwards.
SELECT bed.site
  FROM seed_bed bed
  JOIN unnest(%(sites)s::text[], %(priorities)s::int[]) AS g (site, priority)
    ON g.site = bed.site AND g.priority = bed.priority
 WHERE bed.organisation = %(organisation)s::uuid
 ORDER BY bed.site, bed.priority
   FOR UPDATE OF bed;

-- name: serve_beds
-- Beds that were looked at know when their next seed falls due, and those that gave something when that was.
UPDATE seed_bed bed
   SET served_at = CASE WHEN g.is_served THEN clock_timestamp() ELSE bed.served_at END,
       head_due_at = head.due_at
  FROM unnest(%(sites)s::text[], %(priorities)s::int[], %(served)s::boolean[]) AS g (site, priority, is_served)
 CROSS JOIN LATERAL (
        SELECT coalesce((SELECT next_due_at
                           FROM seed
                          WHERE organisation = %(organisation)s::uuid AND site = g.site AND priority = g.priority
                            AND enabled AND lease IS NULL
                          ORDER BY next_due_at
                          LIMIT 1), 'infinity') AS due_at) head
 WHERE bed.organisation = %(organisation)s::uuid AND bed.site = g.site AND bed.priority = g.priority
   AND (g.is_served OR bed.head_due_at <> head.due_at);

-- name: skip
-- Their site has no place for them at its address now: they are looked at again after their interval.
UPDATE seed
   SET next_due_at = clock_timestamp() + interval_seconds * interval '1 second', updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(ids)s::uuid[]);

-- name: hold
SELECT id
  FROM seed
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(ids)s::uuid[])
 ORDER BY id
   FOR UPDATE;

-- name: rhythm
SELECT interval_seconds, min_interval_seconds, max_interval_seconds, consecutive_failures
  FROM seed
 WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid;

-- name: free
-- Leases that ended without a word of the visit: the schedule stays as it is, and so the seed is due at once.
UPDATE seed
   SET lease = NULL, back_at = NULL
 WHERE organisation = %(organisation)s::uuid AND lease = ANY(%(leases)s::uuid[]) AND id = ANY(%(ids)s::uuid[]);

-- name: visited
-- A holder has said how the visit went. It is noted, and now and then what is older than the newest few goes: to look for
-- that each time costs more than to note the visit.
WITH visited AS (
    UPDATE seed
       SET lease = NULL, back_at = NULL,
           next_due_at = clock_timestamp() + %(delay)s::float8 * interval '1 second',
           interval_seconds = %(interval)s::int, consecutive_failures = %(failed_visits)s::int,
           enabled = enabled AND NOT %(is_gone)s::boolean,
           cursor = coalesce(%(cursor)s::jsonb, cursor),
           last_outcome = %(outcome)s::text, last_found = coalesce(%(found)s::int, last_found),
           last_visited_at = clock_timestamp(), updated_at = clock_timestamp(), visits = visits + 1
     WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid AND lease = %(lease)s::uuid
    RETURNING id, visits, last_visited_at, interval_seconds, next_due_at
), forgotten AS (
    DELETE FROM seed_visit v
     USING visited
     WHERE v.organisation = %(organisation)s::uuid AND v.seed = visited.id
       AND mod(visited.visits, %(every)s::int) = 0 AND v.number <= visited.visits - %(most)s::int
)
INSERT INTO seed_visit (organisation, seed, number, at, outcome, found, previous_interval_seconds, interval_seconds,
                        next_due_at, owner, reason)
SELECT %(organisation)s::uuid, id, visits, last_visited_at, %(outcome)s::text, %(found)s::int, %(previous)s::int,
       interval_seconds, next_due_at, %(owner)s::text, %(reason)s::text
  FROM visited;

-- name: visits
-- The newest first.
SELECT number, at, outcome, found, previous_interval_seconds, interval_seconds, next_due_at, owner, reason
  FROM seed_visit
 WHERE organisation = %(organisation)s::uuid AND seed = %(seed)s::uuid
   AND (%(before)s::int IS NULL OR number < %(before)s::int)
 ORDER BY number DESC
 LIMIT %(limit)s::int;

-- name: granted
-- What these leases hold, while they live.
SELECT l.id, l.resource, l.site, l.owner, l.job_id, l.fence, l.acquired_at, l.expires_at
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[]) AND l.kind = 'seed'
   AND l.expires_at > clock_timestamp();

-- name: next_at
-- In how many seconds something may be due or allowed: the next seed of an open site, the end of a minimum interval, or
-- of a lease. Only what lies ahead: what is there already and may not be taken needs an event, not a clock.
SELECT extract(epoch FROM least(
           (SELECT min(ahead.at) FILTER (WHERE ahead.at > clock_timestamp())
              FROM (SELECT greatest(bed.head_due_at, CASE WHEN s.min_interval_ms > 0 THEN (
                               SELECT max(o.served_at)
                                 FROM seed_bed o
                                WHERE o.organisation = %(organisation)s::uuid AND o.site = bed.site)
                               + s.min_interval_ms * interval '1 millisecond' END) AS at
                      FROM seed_bed bed
                      JOIN site s
                        ON s.organisation = %(organisation)s::uuid AND s.slug = bed.site AND s.paused_at IS NULL
                     WHERE bed.organisation = %(organisation)s::uuid AND bed.head_due_at < 'infinity'
                       AND (%(site)s::text IS NULL OR bed.site = %(site)s::text)) ahead),
           (SELECT back_at
              FROM seed
             WHERE organisation = %(organisation)s::uuid AND back_at > statement_timestamp() AND back_at IS NOT NULL
             ORDER BY back_at
             LIMIT 1)) - clock_timestamp())::float8 AS in_s;

-- name: outlook
-- What there is of what somebody asked for, each kind counted up to a limit; and when the first of it is there. Labels are
-- compared among those that were looked at.
WITH looked AS (
    SELECT 'due' AS state, labels, NULL::timestamptz AS at
      FROM (SELECT s.labels
              FROM seed_bed bed
             CROSS JOIN LATERAL (
                    SELECT labels
                      FROM seed
                     WHERE organisation = %(organisation)s::uuid AND site = bed.site AND priority = bed.priority
                       AND enabled AND lease IS NULL AND next_due_at <= statement_timestamp()
                     LIMIT %(limit)s::int) s
             WHERE bed.organisation = %(organisation)s::uuid AND bed.head_due_at <= statement_timestamp()
               AND (%(site)s::text IS NULL OR bed.site = %(site)s::text)
             LIMIT %(limit)s::int) due
     UNION ALL
    SELECT 'not_due', labels, next_due_at
      FROM (SELECT s.labels, s.next_due_at
              FROM (SELECT site, priority
                      FROM seed_bed
                     WHERE organisation = %(organisation)s::uuid AND head_due_at < 'infinity'
                       AND (%(site)s::text IS NULL OR site = %(site)s::text)
                     ORDER BY head_due_at) bed
             CROSS JOIN LATERAL (
                    SELECT labels, next_due_at
                      FROM seed
                     WHERE organisation = %(organisation)s::uuid AND site = bed.site AND priority = bed.priority
                       AND enabled AND lease IS NULL AND next_due_at > statement_timestamp()
                     ORDER BY next_due_at
                     LIMIT %(limit)s::int) s
             LIMIT %(limit)s::int) later
     UNION ALL
    SELECT 'leased', labels, expires_at
      FROM (SELECT s.labels, l.expires_at
              FROM lease l
              JOIN seed s ON s.id = l.resource AND s.organisation = %(organisation)s::uuid
             WHERE l.organisation = %(organisation)s::uuid AND l.kind = 'seed'
               AND (%(site)s::text IS NULL OR l.site = %(site)s::text) AND l.expires_at > clock_timestamp()
             LIMIT %(limit)s::int) held
     UNION ALL
    SELECT 'disabled', labels, NULL
      FROM (SELECT labels
              FROM seed
             WHERE organisation = %(organisation)s::uuid AND NOT enabled AND lease IS NULL
               AND (%(site)s::text IS NULL OR site = %(site)s::text)
             LIMIT %(limit)s::int) off
)
SELECT state, count(*), min(at), clock_timestamp() AS now
  FROM looked
 WHERE %(labels)s::jsonb IS NULL OR labels @> %(labels)s::jsonb
 GROUP BY state;

-- name: grounds
-- What limits the handing out of seeds at a site, or at any.
SELECT s.slug, s.paused_at IS NOT NULL AS is_paused, s.pause_reason, s.seed_concurrency,
       CASE WHEN s.min_interval_ms > 0 THEN (
           SELECT nullif(max(o.served_at), '-infinity')
             FROM seed_bed o
            WHERE o.organisation = %(organisation)s::uuid AND o.site = s.slug)
           + s.min_interval_ms * interval '1 millisecond' END AS opens_at
  FROM site s
 WHERE s.organisation = %(organisation)s::uuid
   AND (%(site)s::text IS NULL OR s.slug = %(site)s::text)
 ORDER BY s.paused_at IS NOT NULL, opens_at NULLS FIRST
 LIMIT 1;

-- name: holders
SELECT DISTINCT owner
  FROM lease
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text AND kind = 'seed'
   AND expires_at > clock_timestamp()
 LIMIT 100;

-- name: sites
-- Those of the slugs that are sites.
SELECT slug FROM site WHERE organisation = %(organisation)s::uuid AND slug = ANY(%(slugs)s::text[]);

-- name: upsert_turn
-- Upserts go one after the other: two with the same new addresses, or whose beds cross, would stand in each other's way.
SELECT pg_advisory_xact_lock(hashtextextended(%(organisation)s::uuid::text, 4));

-- name: known
-- Which of these addresses are there, kept from others until we are done.
SELECT s.site, s.reference, s.id, s.interval_seconds, s.min_interval_seconds, s.max_interval_seconds,
       s.consecutive_failures
  FROM seed s
  JOIN unnest(%(sites)s::text[], %(references)s::bytea[]) AS g (site, reference)
    ON g.site = s.site AND g.reference = s.reference
 WHERE s.organisation = %(organisation)s::uuid
 ORDER BY s.id
   FOR UPDATE OF s;

-- name: insert
-- A time at the beginning of the calendar stands for the present one, which only the database knows.
INSERT INTO seed (id, organisation, site, sub, rest, reference, original_url, kind, priority, interval_seconds,
                  min_interval_seconds, max_interval_seconds, labels, enabled, cursor, next_due_at)
SELECT g.id, %(organisation)s::uuid, g.site, g.sub, g.rest, g.reference, g.original_url, coalesce(g.kind, 'page'),
       coalesce(g.priority, 50), g.every, g.least, g.most, coalesce(g.labels::jsonb, '{}'), coalesce(g.enabled, true),
       nullif(g.cursor::jsonb, 'null'), greatest(g.next_due_at, CASE WHEN coalesce(g.next_due_at < '0100-01-01', true)
                                                                     THEN clock_timestamp() END)
  FROM unnest(%(ids)s::uuid[], %(sites)s::text[], %(subs)s::text[], %(rests)s::text[], %(references)s::bytea[],
              %(urls)s::text[], %(kinds)s::text[], %(priorities)s::int[], %(intervals)s::int[], %(mins)s::int[],
              %(maxes)s::int[], %(labels)s::text[], %(enableds)s::boolean[], %(cursors)s::text[],
              %(dues)s::timestamptz[])
    AS g (id, site, sub, rest, reference, original_url, kind, priority, every, least, most, labels, enabled, cursor,
          next_due_at);

-- name: update
-- What is left out stays. Who is to be visited more often is not due later than an interval from now.
UPDATE seed s
   SET original_url = coalesce(g.original_url, s.original_url), kind = coalesce(g.kind, s.kind),
       priority = coalesce(g.priority, s.priority), interval_seconds = g.every, min_interval_seconds = g.least,
       max_interval_seconds = g.most, labels = coalesce(g.labels::jsonb, s.labels),
       enabled = coalesce(g.enabled, s.enabled),
       cursor = CASE WHEN g.cursor = 'null' THEN NULL ELSE coalesce(g.cursor::jsonb, s.cursor) END,
       next_due_at = CASE WHEN g.next_due_at < '0100-01-01' THEN clock_timestamp()
                          WHEN g.next_due_at IS NOT NULL THEN g.next_due_at
                          WHEN g.every < s.interval_seconds
                          THEN least(s.next_due_at, clock_timestamp() + g.every * interval '1 second')
                          ELSE s.next_due_at END,
       updated_at = clock_timestamp()
  FROM unnest(%(ids)s::uuid[], %(urls)s::text[], %(kinds)s::text[], %(priorities)s::int[], %(intervals)s::int[],
              %(mins)s::int[], %(maxes)s::int[], %(labels)s::text[], %(enableds)s::boolean[], %(cursors)s::text[],
              %(dues)s::timestamptz[])
    AS g (id, original_url, kind, priority, every, least, most, labels, enabled, cursor, next_due_at)
 WHERE s.organisation = %(organisation)s::uuid AND s.id = g.id;

-- name: page
SELECT id, site, sub, rest, original_url, kind, priority, interval_seconds, min_interval_seconds,
       max_interval_seconds, next_due_at, cursor, labels, enabled, consecutive_failures, last_outcome, last_found,
       last_visited_at, created_at, updated_at, holder, lease_id, expires_at
  FROM seed_now
 WHERE organisation = %(organisation)s::uuid
   AND (%(site)s::text IS NULL OR site = %(site)s::text)
   AND (%(due)s::boolean IS NULL
        OR %(due)s::boolean = (enabled AND lease_id IS NULL AND next_due_at <= statement_timestamp()))
   AND (%(enabled)s::boolean IS NULL OR enabled = %(enabled)s::boolean)
   AND (%(kind)s::text IS NULL OR kind = %(kind)s::text)
   AND (%(labels)s::jsonb IS NULL OR labels @> %(labels)s::jsonb)
   AND (%(after_site)s::text IS NULL OR (site, id) > (%(after_site)s::text, %(after)s::uuid))
 ORDER BY site, id
 LIMIT %(limit)s::int;

-- name: by_ids
SELECT id, site, sub, rest, original_url, kind, priority, interval_seconds, min_interval_seconds,
       max_interval_seconds, next_due_at, cursor, labels, enabled, consecutive_failures, last_outcome, last_found,
       last_visited_at, created_at, updated_at, holder, lease_id, expires_at
  FROM seed_now
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(ids)s::uuid[]);

-- name: lock
-- The lease on it, live or not settled yet.
SELECT lease, interval_seconds, min_interval_seconds, max_interval_seconds, consecutive_failures
  FROM seed
 WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid
   FOR UPDATE;

-- name: delete
-- Not while there is a lease on it.
DELETE FROM seed
 WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid AND lease IS NULL;

-- name: count
SELECT count(*) FROM seed WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text;

-- name: histogram
-- How many fall due in each of the next hours; 0 is what is overdue. Those that are held come back later.
SELECT CASE WHEN next_due_at <= statement_timestamp() THEN 0
            ELSE 1 + floor(extract(epoch FROM next_due_at - statement_timestamp()) / 3600)::int END AS hour,
       count(*)
  FROM seed
 WHERE organisation = %(organisation)s::uuid AND enabled AND lease IS NULL
   AND (%(site)s::text IS NULL OR site = %(site)s::text)
   AND next_due_at <= statement_timestamp() + %(hours)s::int * interval '1 hour'
 GROUP BY 1
 ORDER BY 1;

-- name: next_hour
-- How many fall due in each five minutes of the next hour.
SELECT floor(extract(epoch FROM next_due_at - statement_timestamp()) / 300)::int AS step, count(*)
  FROM seed
 WHERE organisation = %(organisation)s::uuid AND enabled AND lease IS NULL
   AND (%(site)s::text IS NULL OR site = %(site)s::text)
   AND next_due_at > statement_timestamp() AND next_due_at < statement_timestamp() + interval '1 hour'
 GROUP BY 1;

-- name: books
-- Every grant ended somehow or is held. The lowest 29 bits of a fence count grants (leases/fences.py).
SELECT coalesce(sum(s.fence & 536870911), 0)::bigint, coalesce(sum(e.released), 0)::bigint, coalesce(sum(e.expired), 0)::bigint,
       coalesce(sum(e.revoked), 0)::bigint, count(l.id),
       count(*) FILTER (WHERE (s.fence & 536870911) <> coalesce(e.ends, 0) + CASE WHEN l.id IS NULL THEN 0 ELSE 1 END),
       count(*) FILTER (WHERE (s.lease IS NULL) <> (l.id IS NULL) OR s.lease <> l.id OR s.fence < l.fence)
  FROM seed s
  LEFT JOIN lease l ON l.resource = s.id AND l.organisation = %(organisation)s::uuid
  LEFT JOIN (SELECT resource, count(*) AS ends, count(*) FILTER (WHERE how = 'released') AS released,
                    count(*) FILTER (WHERE how = 'expired') AS expired,
                    count(*) FILTER (WHERE how IN ('revoked', 'superseded')) AS revoked
               FROM lease_end
              WHERE organisation = %(organisation)s::uuid AND kind = 'seed'
              GROUP BY resource) e ON e.resource = s.id
 WHERE s.organisation = %(organisation)s::uuid;
