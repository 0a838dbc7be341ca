-- name: now
SELECT clock_timestamp();

-- name: flow
-- What was accepted and what ended in each step of time. Who took more than a day to end is not counted as ended: to find
-- those, every job there ever was would have to be looked at.
SELECT moved.step, moved.what, count(*)::int
  FROM (SELECT floor(extract(epoch FROM j.created_at - %(since)s::timestamptz) / %(step_s)s::int)::int AS step,
               'accepted' AS what
          FROM job j
         WHERE j.organisation = %(organisation)s::uuid AND j.created_at >= %(since)s::timestamptz
         UNION ALL
        SELECT floor(extract(epoch FROM j.ended_at - %(since)s::timestamptz) / %(step_s)s::int)::int, j.status
          FROM job j
         WHERE j.organisation = %(organisation)s::uuid AND j.ended_at >= %(since)s::timestamptz
           AND j.created_at >= %(since)s::timestamptz - interval '1 day') AS moved
 GROUP BY moved.step, moved.what;

-- name: live
SELECT count(*)::int, count(*) FILTER (WHERE j.status = 'pending')::int
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid AND j.status IN ('pending', 'dispatched', 'processing');

-- name: lately
-- The last five minutes and the last quarter of an hour.
SELECT count(*) FILTER (WHERE j.created_at >= statement_timestamp() - interval '5 minutes')::int,
       count(*) FILTER (WHERE j.ended_at >= statement_timestamp() - interval '5 minutes')::int,
       count(*) FILTER (WHERE j.ended_at >= statement_timestamp() - interval '15 minutes')::int,
       count(*) FILTER (WHERE j.ended_at >= statement_timestamp() - interval '15 minutes'
                          AND j.status IN ('failed', 'timed_out', 'partial'))::int
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid AND j.created_at >= statement_timestamp() - interval '1 day'
   AND (j.ended_at IS NULL OR j.ended_at >= statement_timestamp() - interval '15 minutes');

-- name: backlogs
-- What waits at each platform; whether nobody there works on anything, whoever it is for, since when, and is kept from it
-- by nobody.
SELECT w.platform, w.pending, w.oldest_s, w.in_flight, w.due_at,
       w.due_at < clock_timestamp() - %(patience_s)s::int * interval '1 second'
       AND NOT EXISTS (SELECT
                         FROM platform_pause p
                        WHERE p.organisation = %(organisation)s::uuid AND p.platform = w.platform)
       AND NOT EXISTS (SELECT
                         FROM platform_breaker b
                        WHERE b.organisation = %(organisation)s::uuid AND b.platform = w.platform)
       AND NOT EXISTS (SELECT
                         FROM platform_tally y
                        WHERE y.organisation = %(organisation)s::uuid AND y.platform = w.platform
                          AND y.at > clock_timestamp() - 5 * %(patience_s)s::int * interval '1 second')
       AND (SELECT in_hand FROM platform_load(w.platform)) = 0 AS is_deserted
  FROM (SELECT t.platform, count(*) FILTER (WHERE t.status = 'pending')::int AS pending, count(t.lease)::int AS in_flight,
               extract(epoch FROM clock_timestamp() - min(t.created_at) FILTER (WHERE t.status = 'pending'))::float8 AS oldest_s,
               min(t.not_before) FILTER (WHERE t.status = 'pending') AS due_at
          FROM task t
         WHERE t.organisation = %(organisation)s::uuid AND t.ended_at IS NULL
         GROUP BY t.platform) AS w
 ORDER BY w.oldest_s DESC NULLS LAST, w.platform;

-- name: strips
-- How attempts went, five minutes at a time; 0 is an hour ago.
SELECT y.platform, floor(extract(epoch FROM y.at - %(now)s::timestamptz + interval '1 hour') / 300)::int AS step,
       sum(y.succeeded)::int, sum(y.failed)::int
  FROM platform_tally y
 WHERE y.organisation = %(organisation)s::uuid AND y.at >= %(now)s::timestamptz - interval '1 hour'
 GROUP BY y.platform, step;

-- name: breakers
SELECT b.platform, b.opened_at, b.reason
  FROM platform_breaker b
 WHERE b.organisation = %(organisation)s::uuid;

-- name: platform_pauses
SELECT p.platform, p.paused_at, p.by_name, p.reason
  FROM platform_pause p
 WHERE p.organisation = %(organisation)s::uuid;

-- name: letters
-- What died within the last hour, and how much of its platform nobody has tried again.
SELECT d.platform, count(*)::int, min(d.at),
       (SELECT count(*)::int
          FROM dead_letter o
         WHERE o.organisation = %(organisation)s::uuid AND o.platform IS NOT DISTINCT FROM d.platform
           AND o.replayed_at IS NULL) AS open
  FROM dead_letter d
 WHERE d.organisation = %(organisation)s::uuid AND d.at >= clock_timestamp() - interval '1 hour' AND d.replayed_at IS NULL
 GROUP BY d.platform;

-- name: spend
-- A run that began today spent all of it today; of the others only the ledger knows.
SELECT coalesce(sum(CASE WHEN r.started_at >= date_trunc('day', clock_timestamp()) THEN r.spent_micros
                         ELSE (SELECT coalesce(sum(l.spent_micros), 0)
                                 FROM run_ledger l
                                WHERE l.organisation = %(organisation)s::uuid AND l.run = r.id
                                  AND l.at >= date_trunc('day', clock_timestamp())) END), 0)::bigint AS spent_micros,
       coalesce(sum(r.reserved_micros), 0)::bigint AS reserved_micros,
       coalesce(sum(r.budget_cap_micros), 0)::bigint AS cap_micros,
       count(*) FILTER (WHERE r.status = 'running')::int AS running,
       count(*) FILTER (WHERE r.status = 'paused')::int AS paused,
       (SELECT count(*)::int
          FROM run o
         WHERE o.organisation = %(organisation)s::uuid AND o.sub_status = 'waiting') AS waiting
  FROM run r
 WHERE r.organisation = %(organisation)s::uuid AND r.started_at IS NOT NULL
   AND (r.completed_at IS NULL OR r.completed_at >= date_trunc('day', clock_timestamp()));

-- name: runs_in_need
-- Runs that are not over and have passed their soft limit, or were paused by something else than an operator.
SELECT r.id, r.name, r.pause_reason, r.pause_detail, r.paused_at, r.spent_micros, r.reserved_micros, r.budget_cap_micros
  FROM run r
 WHERE r.organisation = %(organisation)s::uuid AND r.status IN ('running', 'paused')
   AND ((r.spent_micros + r.reserved_micros) * 100 >= r.budget_cap_micros * r.soft_warning_percent
        OR r.pause_reason <> 'operator')
 ORDER BY r.started_at DESC
 LIMIT %(limit)s::int;

-- name: paused_sites
SELECT s.slug, s.name, s.paused_at, s.pause_reason
  FROM site s
 WHERE s.organisation = %(organisation)s::uuid AND s.paused_at IS NOT NULL
 ORDER BY s.paused_at DESC
 LIMIT %(limit)s::int;

-- name: overdue_seeds
-- Sites that are open and have had something due for longer than one should wait. Counted up to a limit each: a site may
-- have a million.
SELECT late.slug, late.name, late.number, late.first_at
  FROM (SELECT s.slug, s.name, count(*)::int AS number, min(one.next_due_at) AS first_at
          FROM site s
          JOIN seed_bed bed ON bed.organisation = %(organisation)s::uuid AND bed.site = s.slug
           AND bed.head_due_at < clock_timestamp() - %(patience_s)s::int * interval '1 second'
         CROSS JOIN LATERAL (
                SELECT e.next_due_at
                  FROM seed e
                 WHERE e.organisation = %(organisation)s::uuid AND e.site = s.slug AND e.priority = bed.priority
                   AND e.enabled AND e.lease IS NULL
                   AND e.next_due_at < clock_timestamp() - %(patience_s)s::int * interval '1 second'
                 ORDER BY e.next_due_at
                 LIMIT %(most_seeds)s::int) AS one
         WHERE s.organisation = %(organisation)s::uuid AND s.paused_at IS NULL
         GROUP BY s.slug, s.name) AS late
 ORDER BY late.first_at
 LIMIT %(limit)s::int;

-- name: failed_sources
-- Sweeps that cannot go on, or that nobody drives any more.
SELECT s.name, s.status, s.last_error, coalesce(s.driver_until, s.started_at)
  FROM source s
 WHERE s.organisation = %(organisation)s::uuid
   AND (s.status = 'failed'
        OR (s.status = 'sweeping' AND coalesce(s.driver_until, s.started_at) < clock_timestamp() - interval '2 minutes'));

-- name: leases
-- What is held now. Accounts know themselves what is held of them, wherever they are kept.
SELECT l.kind, count(*)::int
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.kind <> 'account' AND l.expires_at > clock_timestamp()
 GROUP BY l.kind;
