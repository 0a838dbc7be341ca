-- name: accept
-- In their order; nothing for a job that is there already: the first request stands.
INSERT INTO job (organisation, id, task_type, platforms, payload, time_range, priority, trace_ctx, metadata, run_id, more,
                 deadline_at)
SELECT %(organisation)s::uuid, g.id, g.task_type, string_to_array(g.platforms, ' '), g.payload::jsonb, g.time_range::jsonb,
       g.priority, g.trace_ctx::jsonb, g.metadata::jsonb, g.run_id, g.more::jsonb,
       clock_timestamp() + g.deadline_s * interval '1 second'
  FROM unnest(%(jobs)s::text[], %(kinds)s::text[], %(several)s::text[], %(payloads)s::text[], %(time_ranges)s::text[],
              %(priorities)s::smallint[], %(traces)s::text[], %(metadatas)s::text[], %(runs)s::text[], %(mores)s::text[],
              %(deadlines)s::int[])
       WITH ORDINALITY AS g (id, task_type, platforms, payload, time_range, priority, trace_ctx, metadata, run_id, more,
                             deadline_s, turn)
 ORDER BY g.turn
    ON CONFLICT DO NOTHING
RETURNING id;

-- name: add_tasks
INSERT INTO task (id, organisation, job, platform, task_type, priority, max_attempts, deadline_at, canary)
SELECT g.id, %(organisation)s::uuid, j.id, g.platform, j.task_type, j.priority, g.attempts, j.deadline_at, g.canary
  FROM unnest(%(tasks)s::uuid[], %(jobs)s::text[], %(platforms)s::text[], %(attempts)s::int[], %(canaries)s::boolean[])
       AS g (id, job, platform, attempts, canary)
 CROSS JOIN LATERAL (
         SELECT id, task_type, priority, deadline_at
           FROM job
          WHERE organisation = %(organisation)s::uuid AND id = g.job
         OFFSET 0) AS j;

-- name: note_many
INSERT INTO task_event (id, organisation, task, event, attempt, fence, detail)
SELECT g.id, %(organisation)s::uuid, g.task, g.event, g.attempt, g.fence, g.detail::jsonb
  FROM unnest(%(ids)s::uuid[], %(tasks)s::uuid[], %(events)s::text[], %(attempts)s::int[], %(fences)s::bigint[],
              %(details)s::text[]) AS g (id, task, event, attempt, fence, detail);

-- name: jobs
SELECT j.id, j.task_type, j.platforms, j.payload, j.time_range, j.priority, j.trace_ctx, j.metadata, j.run_id, j.more,
       j.status, j.created_at, j.deadline_at, j.ended_at
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid AND j.id = ANY(%(jobs)s::text[]);

-- name: known_jobs
SELECT j.id
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid AND j.id = ANY(%(jobs)s::text[]);

-- name: page
-- Each status by itself, where the index has them in order; then the newest of all.
SELECT one.id
  FROM unnest(%(statuses)s::text[]) AS s (status)
 CROSS JOIN LATERAL (
        SELECT j.id, j.created_at
          FROM job j
         WHERE j.organisation = %(organisation)s::uuid AND j.status = s.status
           AND (%(platform)s::text IS NULL OR %(platform)s::text = ANY(j.platforms))
           AND (%(older_than_s)s::int IS NULL
                OR j.created_at < statement_timestamp() - %(older_than_s)s::int * interval '1 second')
           AND (%(within_s)s::int IS NULL
                OR j.created_at > statement_timestamp() - %(within_s)s::int * interval '1 second')
           AND (%(of_run)s::text IS NULL OR j.run_id = %(of_run)s::text)
           AND ((%(error)s::text IS NULL AND %(attempt_over)s::int IS NULL)
                OR EXISTS (SELECT
                             FROM task t
                            WHERE t.organisation = %(organisation)s::uuid AND t.job = j.id
                              AND (%(error)s::text IS NULL OR t.last_error ->> 'code' = %(error)s::text
                                   OR (t.ended_at IS NOT NULL AND t.sub_status = %(error)s::text))
                              AND (%(attempt_over)s::int IS NULL OR t.attempt > %(attempt_over)s::int)))
           AND (%(before)s::timestamptz IS NULL OR (j.created_at, j.id) < (%(before)s::timestamptz, %(before_id)s::text))
         ORDER BY j.created_at DESC, j.id DESC
         LIMIT %(limit)s::int) AS one
 ORDER BY one.created_at DESC, one.id DESC
 LIMIT %(limit)s::int;

-- name: tasks_of
SELECT t.id, t.job, t.platform, t.task_type, t.status, t.attempt, t.max_attempts, t.fence, t.sub_status, t.losses,
       t.lease IS NOT NULL AND l.expires_at > clock_timestamp() AS is_held, t.cursor, nullif(t.seen, '{}') AS seen, t.final_seq,
       t.final_status, t.result_count, t.last_error, t.not_before, t.deadline_at, t.begun_at, t.ended_at, t.updated_at,
       t.lease, t.status = 'pending' AND t.not_before > clock_timestamp() AS is_resting,
       (SELECT count(*)::int FROM receipt r WHERE r.task = t.id AND r.written_at IS NULL) AS unwritten, t.snoozes,
       t.cost_micros, t.created_at,
       t.published_at IS NOT NULL AND t.status = 'dispatched' AS is_published,
       t.status = 'dispatched' AND (t.published_at IS NULL OR t.queue_until > clock_timestamp()) AS is_unheard
  FROM task t
  LEFT JOIN lease l ON l.id = t.lease AND l.organisation = %(organisation)s::uuid
 WHERE t.organisation = %(organisation)s::uuid AND t.job = ANY(%(jobs)s::text[])
 ORDER BY t.job, t.platform;

-- name: hold_jobs
-- Kept from others until we are done, in one order.
SELECT j.id
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid AND j.id = ANY(%(jobs)s::text[])
 ORDER BY j.id
   FOR UPDATE;

-- name: hold_named
-- The tasks of these jobs at these platforms, kept from others until we are done, in one order.
SELECT t.id
  FROM task t
  JOIN unnest(%(jobs)s::text[], %(named_platforms)s::text[]) AS g (job, platform)
       ON t.job = g.job AND t.platform = g.platform
 WHERE t.organisation = %(organisation)s::uuid AND t.job = ANY(%(jobs)s::text[])
 ORDER BY t.id
   FOR UPDATE OF t;

-- name: hold_tasks
SELECT t.id
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[])
 ORDER BY t.id
   FOR UPDATE;

-- name: is_cancelled
SELECT t.status = 'cancelled'
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.id = %(task)s::uuid;

-- name: jobs_of_tasks
SELECT DISTINCT t.job
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[])
 ORDER BY t.job;

-- name: history
-- The newest, in their order.
SELECT n.task, n.at, n.event, n.attempt, n.fence, n.detail
  FROM (SELECT e.id, e.task, e.at, e.event, e.attempt, e.fence, e.detail
          FROM task_event e
         WHERE e.organisation = %(organisation)s::uuid AND e.task = ANY(%(tasks)s::uuid[])
         ORDER BY e.at DESC, e.id DESC
         LIMIT %(limit)s::int) AS n
 ORDER BY n.at, n.id;

-- name: known
-- What came under these cursors before.
SELECT r.task, r.key, r.sha256
  FROM receipt r
  JOIN unnest(%(tasks)s::uuid[], %(marks)s::bytea[]) AS g (task, key) ON r.task = g.task AND r.key = g.key
 WHERE r.organisation = %(organisation)s::uuid;

-- name: receive
-- Accepted, each in its turn. What is written in the same breath leaves no chunk behind, unless a shadow is to have it.
INSERT INTO receipt (task, organisation, platform, key, cursor, attempt, fence, sha256, documents, late, chunk, written_at,
                     shadow_due)
SELECT g.task, %(organisation)s::uuid, t.platform, g.key, g.cursor::jsonb, g.attempt, g.fence, g.sha256, g.documents,
       g.late, CASE WHEN g.is_written AND NOT g.shadow_due THEN NULL ELSE g.chunk::jsonb END,
       CASE WHEN g.is_written THEN clock_timestamp() END, g.shadow_due
  FROM unnest(%(tasks)s::uuid[], %(marks)s::bytea[], %(cursors)s::text[], %(attempts)s::int[], %(fences)s::bigint[],
              %(digests)s::bytea[], %(counts)s::int[], %(chunks)s::text[], %(lates)s::boolean[], %(written)s::boolean[],
              %(shadows)s::boolean[])
       WITH ORDINALITY AS g (task, key, cursor, attempt, fence, sha256, documents, chunk, late, is_written, shadow_due,
                             turn)
  JOIN task t ON t.id = g.task AND t.organisation = %(organisation)s::uuid
 ORDER BY g.turn
RETURNING task, key, number;

-- name: seen_before
-- Which documents of these tasks came before, by what makes them the same.
SELECT d.task, d.identity
  FROM document_seen d
  JOIN unnest(%(tasks)s::uuid[], %(identities)s::bytea[]) AS g (task, identity)
       ON d.task = g.task AND d.identity = g.identity
 WHERE d.organisation = %(organisation)s::uuid;

-- name: see
INSERT INTO document_seen (task, organisation, identity)
SELECT g.task, %(organisation)s::uuid, g.identity
  FROM unnest(%(tasks)s::uuid[], %(identities)s::bytea[]) AS g (task, identity)
    ON CONFLICT DO NOTHING;

-- name: with_unwritten
-- At which of these platforms something waits for its writer, or for the shadow's.
SELECT g.platform,
       EXISTS (SELECT
                 FROM receipt r
                WHERE r.organisation = %(organisation)s::uuid AND r.platform = g.platform
                  AND r.written_at IS NULL) AS unwritten,
       EXISTS (SELECT
                 FROM receipt r
                WHERE r.organisation = %(organisation)s::uuid AND r.platform = g.platform AND r.shadow_due) AS unshadowed
  FROM unnest(%(platforms)s::text[]) AS g (platform);

-- name: writers_turn
-- One writer at a time for each platform of an organisation; whoever comes second leaves it to the first.
SELECT pg_try_advisory_xact_lock(hashtextextended(%(organisation)s::uuid::text || %(platform)s::text, 6));

-- name: unwritten
-- What was accepted and no writer has confirmed, in the order it came. What is in the stream has some time.
SELECT r.task, t.job, r.platform, r.key, r.number, r.attempt, r.chunk::text, r.streamed_as
  FROM receipt r
  JOIN task t ON t.id = r.task AND t.organisation = %(organisation)s::uuid
 WHERE r.organisation = %(organisation)s::uuid AND r.platform = %(platform)s::text AND r.written_at IS NULL
   AND (r.streamed_at IS NULL OR r.streamed_at < clock_timestamp() - %(patience_s)s::int * interval '1 second')
 ORDER BY r.number
 LIMIT %(limit)s::int;

-- name: unwritten_counts
SELECT r.platform, count(*)::int
  FROM receipt r
 WHERE r.organisation = %(organisation)s::uuid AND r.written_at IS NULL
 GROUP BY r.platform;

-- name: unshadowed
SELECT r.task, t.job, r.platform, r.key, r.number, r.attempt, r.chunk::text
  FROM receipt r
  JOIN task t ON t.id = r.task AND t.organisation = %(organisation)s::uuid
 WHERE r.organisation = %(organisation)s::uuid AND r.platform = %(platform)s::text AND r.shadow_due
 ORDER BY r.number
 LIMIT %(limit)s::int;

-- name: streamed
UPDATE receipt r
   SET streamed_at = clock_timestamp(), streamed_as = g.entry
  FROM unnest(%(tasks)s::uuid[], %(marks)s::bytea[], %(entries)s::text[]) AS g (task, key, entry)
 WHERE r.organisation = %(organisation)s::uuid AND r.task = g.task AND r.key = g.key AND r.written_at IS NULL;

-- name: confirm
-- The writer has them: from now on they are where it put them.
UPDATE receipt r
   SET written_at = clock_timestamp(), chunk = CASE WHEN r.shadow_due THEN r.chunk END
  FROM unnest(%(tasks)s::uuid[], %(marks)s::bytea[]) AS g (task, key)
 WHERE r.organisation = %(organisation)s::uuid AND r.task = g.task AND r.key = g.key AND r.written_at IS NULL
RETURNING r.task, r.key, extract(epoch FROM r.written_at - r.received_at)::float8 AS lag_s;

-- name: chunks_of
SELECT r.task, r.key, r.cursor, r.chunk::text
  FROM receipt r
  JOIN unnest(%(tasks)s::uuid[], %(marks)s::bytea[]) AS g (task, key) ON r.task = g.task AND r.key = g.key
 WHERE r.organisation = %(organisation)s::uuid;

-- name: shadowed
UPDATE receipt r
   SET shadow_due = false, chunk = CASE WHEN r.written_at IS NULL THEN r.chunk END
  FROM unnest(%(tasks)s::uuid[], %(marks)s::bytea[]) AS g (task, key)
 WHERE r.organisation = %(organisation)s::uuid AND r.task = g.task AND r.key = g.key AND r.shadow_due;

-- name: phases
-- How far the moves have come that somebody has promoted.
SELECT p.platform, p.phase
  FROM platform_phase p
 WHERE p.organisation = %(organisation)s::uuid;

-- name: set_phase
INSERT INTO platform_phase (organisation, platform, phase, by_name, reason)
VALUES (%(organisation)s::uuid, %(platform)s::text, %(to_phase)s::text, %(by_name)s::text, %(reason)s::text)
    ON CONFLICT (organisation, platform) DO UPDATE
   SET phase = excluded.phase, at = clock_timestamp(), by_name = excluded.by_name, reason = excluded.reason;

-- name: to_compare
SELECT r.number, r.task, t.job, r.key, r.cursor, r.received_at,
       r.written_at IS NOT NULL AND NOT r.shadow_due AS is_settled
  FROM receipt r
  JOIN task t ON t.id = r.task AND t.organisation = %(organisation)s::uuid
 WHERE r.organisation = %(organisation)s::uuid AND r.platform = %(platform)s::text AND r.number > %(after)s::bigint
   AND (%(since)s::timestamptz IS NULL OR r.received_at >= %(since)s::timestamptz)
 ORDER BY r.number
 LIMIT %(limit)s::int;

-- name: shadow_again
UPDATE receipt r
   SET shadow_due = true, chunk = g.chunk::jsonb
  FROM unnest(%(tasks)s::uuid[], %(marks)s::bytea[], %(chunks)s::text[]) AS g (task, key, chunk)
 WHERE r.organisation = %(organisation)s::uuid AND r.task = g.task AND r.key = g.key AND r.written_at IS NOT NULL;

-- name: settle
-- As their lives go on. Who has no lease any more says so, and when it has to be looked at again; a lease that ran out and
-- that nobody has booked stays, or nobody would find it. What was put off for good while a worker had it stays so when it
-- comes back. Told of each: how an attempt ended, if one did, and how long the whole took, if it is over. What was over before
-- is not told of again.
UPDATE task t
   SET status = g.status, sub_status = g.sub_status, attempt = g.attempt, losses = g.losses, cursor = g.cursor::jsonb,
       seen = g.seen::int4multirange, final_seq = g.final_seq, final_status = g.final_status,
       result_count = g.result_count, last_error = g.last_error::jsonb, snoozes = g.snoozes,
       cost_micros = g.cost_micros,
       lease = CASE WHEN g.is_held OR (l.id IS NOT NULL AND NOT g.is_over) THEN t.lease END,
       back_at = CASE WHEN g.is_held OR (l.id IS NOT NULL AND NOT g.is_over) THEN t.back_at
                      WHEN g.awaits
                      THEN clock_timestamp() + g.patience_s * interval '1 second' END,
       not_before = CASE WHEN g.rest_s IS NULL OR t.not_before = '9999-01-01T00:00:00Z' THEN t.not_before
                         ELSE clock_timestamp() + g.rest_s * interval '1 second' END,
       ended_at = CASE WHEN NOT g.is_over THEN NULL ELSE coalesce(t.ended_at, clock_timestamp()) END,
       updated_at = clock_timestamp()
  FROM unnest(%(tasks)s::uuid[], %(statuses)s::text[], %(sub_statuses)s::text[], %(attempts)s::int[], %(losses)s::int[],
              %(cursors)s::text[], %(seens)s::text[], %(final_seqs)s::int[], %(final_statuses)s::text[],
              %(result_counts)s::int[], %(last_errors)s::text[], %(holds)s::boolean[], %(over)s::boolean[],
              %(rests)s::float8[], %(patiences)s::int[], %(awaits)s::boolean[], %(snoozes)s::int[], %(costs)s::bigint[])
       AS g (id, status, sub_status, attempt, losses, cursor, seen, final_seq, final_status, result_count, last_error,
             is_held, is_over, rest_s, patience_s, awaits, snoozes, cost_micros)
  JOIN task o ON o.organisation = %(organisation)s::uuid AND o.id = g.id AND o.id = ANY(%(tasks)s::uuid[])
  LEFT JOIN lease l ON l.organisation = %(organisation)s::uuid AND l.id = o.lease
 WHERE t.organisation = %(organisation)s::uuid AND t.id = g.id AND t.id = ANY(%(tasks)s::uuid[])
RETURNING t.platform,
          CASE WHEN o.ended_at IS NOT NULL OR t.attempt < o.attempt THEN NULL
               WHEN t.losses > o.losses THEN 'lost'
               WHEN t.ended_at IS NOT NULL THEN t.status
               WHEN t.attempt > o.attempt THEN 'retried' END AS outcome,
          extract(epoch FROM t.ended_at - t.begun_at)::float8 AS took_s;

-- name: roll_up_alone
-- A job of one platform stands as its task does, which whoever comes here has kept from others. Told are the rest, and those
-- that are over by this and that leases were taken for.
WITH these AS (
    SELECT j.id, cardinality(j.platforms) = 1 AS is_alone
      FROM job j
     WHERE j.organisation = %(organisation)s::uuid AND j.id = ANY(%(jobs)s::text[])
), done AS (
    UPDATE job j
       SET status = t.status, ended_at = CASE WHEN t.ended_at IS NOT NULL THEN coalesce(j.ended_at, t.ended_at) END
      FROM these
      JOIN task t ON t.organisation = %(organisation)s::uuid AND t.job = these.id AND t.job = ANY(%(jobs)s::text[])
     WHERE j.organisation = %(organisation)s::uuid AND j.id = these.id AND these.is_alone AND j.status <> t.status
    RETURNING j.id, j.has_leases AND t.ended_at IS NOT NULL AS leaves_leases
)
SELECT these.id, these.is_alone
  FROM these
  LEFT JOIN done ON done.id = these.id
 WHERE NOT these.is_alone OR done.leaves_leases
 ORDER BY these.id;

-- name: mark_leased
-- Leases are taken for it from now on. Nothing changes when it is over; the row is waited for if it is just ending.
UPDATE job j
   SET has_leases = true
 WHERE j.organisation = %(organisation)s::uuid AND j.id = %(job)s::text AND j.ended_at IS NULL AND NOT j.has_leases;

-- name: status_of
SELECT j.status
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid AND j.id = %(job)s::text;

-- name: over_with_leases
SELECT j.id
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid AND j.has_leases AND j.ended_at IS NOT NULL
 ORDER BY j.ended_at
 LIMIT %(limit)s::int;

-- name: unmark_leased
-- Not too soon: somebody who asked while the job lived may still be granted something.
UPDATE job j
   SET has_leases = false
 WHERE j.organisation = %(organisation)s::uuid AND j.id = ANY(%(jobs)s::text[]) AND j.has_leases
   AND j.ended_at < clock_timestamp() - %(patience_s)s::int * interval '1 second';

-- name: roll_up
UPDATE job j
   SET status = g.status,
       ended_at = CASE WHEN NOT g.is_over THEN NULL ELSE coalesce(j.ended_at, clock_timestamp()) END
  FROM unnest(%(jobs)s::text[], %(statuses)s::text[], %(over)s::boolean[]) AS g (id, status, is_over)
 WHERE j.organisation = %(organisation)s::uuid AND j.id = g.id AND j.status <> g.status
RETURNING j.id, g.is_over AND j.has_leases AS leaves_leases;

-- name: overdue
-- Tasks whose worker may be lost, or that wait for messages in vain.
SELECT t.id, t.lease, l.expires_at <= clock_timestamp() AS ran_out
  FROM (SELECT id, lease
          FROM task
         WHERE organisation = %(organisation)s::uuid AND back_at <= statement_timestamp() AND back_at IS NOT NULL
         ORDER BY back_at
         LIMIT %(limit)s::int
           FOR UPDATE SKIP LOCKED) t
  LEFT JOIN lease l ON l.id = t.lease AND l.organisation = %(organisation)s::uuid;

-- name: defer
-- Their leases were renewed meanwhile: look again when those run out.
UPDATE task t
   SET back_at = l.expires_at
  FROM lease l
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[])
   AND l.organisation = %(organisation)s::uuid AND l.id = t.lease;

-- name: expired_jobs
-- What only waits for our own writer has done its work in time; what a paused run has put off is given all its time later.
SELECT DISTINCT t.job
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.ended_at IS NULL AND t.deadline_at <= statement_timestamp()
   AND t.sub_status IS DISTINCT FROM 'writing' AND t.paused_at IS NULL
 LIMIT %(limit)s::int;

-- name: guard
-- Grants at a platform go one batch after the other, over all organisations: `count(*) < limit` alone is overtaken.
SELECT pg_advisory_xact_lock(hashtextextended(wanted.platform, 5))
  FROM (SELECT platform FROM unnest(%(platforms)s::text[]) AS given (platform) ORDER BY platform OFFSET 0) wanted;

-- name: loads
-- What is in hand at each platform: by everybody, and by us; how many organisations wait for it; and what it bears, which
-- is what its file says unless somebody has changed that for a while. `as_given` asks how it would be without that.
SELECT g.platform, load.in_hand, load.waiting,
       (SELECT count(*)::int
          FROM task t
         WHERE t.organisation = %(organisation)s::uuid AND t.platform = g.platform AND t.lease IS NOT NULL) AS ours,
       EXISTS (SELECT
                 FROM platform_pause p
                WHERE p.organisation = %(organisation)s::uuid AND p.platform = g.platform) AS is_paused,
       bears.concurrency AS limit, bears.apart_s, bears.burst,
       b.probes, b.probe_at <= clock_timestamp() AS is_probe_due, b.probe_at, rate.room AS rate_room,
       rate.in_s AS rate_in_s, clock_timestamp() + rate.in_s * interval '1 second' AS rate_at
  FROM unnest(%(platforms)s::text[], %(concurrencies)s::int[], %(aparts)s::float8[], %(bursts)s::int[])
       AS g (platform, concurrency, apart_s, burst)
 CROSS JOIN LATERAL platform_load(g.platform) AS load
 CROSS JOIN LATERAL platform_limit_now(CASE WHEN %(as_given)s::boolean THEN NULL ELSE g.platform END) AS own
 CROSS JOIN LATERAL (
        SELECT coalesce(own.concurrency, g.concurrency) AS concurrency,
               coalesce(own.rate_per_s / own.rate_tasks, g.apart_s) AS apart_s,
               coalesce(own.rate_burst, g.burst) AS burst
        OFFSET 0) AS bears
  LEFT JOIN platform_breaker b ON b.organisation = %(organisation)s::uuid AND b.platform = g.platform
  LEFT JOIN LATERAL (SELECT * FROM platform_rate_room(g.platform, bears.apart_s, bears.burst) WHERE bears.apart_s IS NOT NULL)
            AS rate ON true;

-- name: overrides
-- Which limits differ from the files just now. Who set them and why is told to their organisation alone.
SELECT g.platform, own.concurrency, own.rate_tasks, own.rate_per_s, own.rate_burst, own.since, own.until, mine.by_name,
       mine.reason
  FROM unnest(%(platforms)s::text[]) AS g (platform)
 CROSS JOIN LATERAL platform_limit_now(g.platform) AS own
  LEFT JOIN platform_limit mine
         ON mine.organisation = %(organisation)s::uuid AND mine.platform = g.platform AND mine.since = own.since
 WHERE own.since IS NOT NULL;

-- name: is_called
SELECT EXISTS (SELECT FROM organisation o WHERE o.id = %(organisation)s::uuid AND o.slug = %(slug)s::text);

-- name: override
INSERT INTO platform_limit (organisation, platform, concurrency, rate_tasks, rate_per_s, rate_burst, by_name, reason, until)
VALUES (%(organisation)s::uuid, %(platform)s::text, %(concurrency)s::int, %(rate_tasks)s::int, %(rate_per_s)s::float8,
        %(rate_burst)s::int, %(by_name)s::text, %(reason)s::text, %(until)s::timestamptz)
    ON CONFLICT (organisation, platform) DO UPDATE
   SET concurrency = excluded.concurrency, rate_tasks = excluded.rate_tasks, rate_per_s = excluded.rate_per_s,
       rate_burst = excluded.rate_burst, by_name = excluded.by_name, reason = excluded.reason, since = clock_timestamp(),
       until = excluded.until;

-- name: restore
DELETE FROM platform_limit
 WHERE organisation = %(organisation)s::uuid AND platform = %(platform)s::text
   AND (until IS NULL OR until > clock_timestamp())
RETURNING platform;

-- name: end_overrides
-- Those whose time has passed; they count no more in any case.
DELETE FROM platform_limit
 WHERE organisation = %(organisation)s::uuid AND until <= clock_timestamp()
RETURNING platform, reason;

-- name: rate_take
-- So many tasks begin now at each platform.
SELECT platform_rate_take(g.platform, g.apart_s, g.burst, g.many)
  FROM unnest(%(platforms)s::text[], %(aparts)s::float8[], %(bursts)s::int[], %(manies)s::int[])
       AS g (platform, apart_s, burst, many);

-- name: tally
-- What attempts came to; the breakers that are open there are told with the task they are probed by.
WITH told AS (
    INSERT INTO platform_tally (id, organisation, platform, succeeded, failed)
    SELECT g.id, %(organisation)s::uuid, g.platform, g.succeeded, g.failed
      FROM unnest(%(tally_ids)s::uuid[], %(platforms)s::text[], %(goods)s::int[], %(bads)s::int[])
           AS g (id, platform, succeeded, failed)
    RETURNING platform
)
SELECT told.platform, b.platform IS NOT NULL AS is_open, b.probe
  FROM told
  LEFT JOIN platform_breaker b ON b.organisation = %(organisation)s::uuid AND b.platform = told.platform;

-- name: tallied
SELECT coalesce(sum(y.succeeded), 0)::int, coalesce(sum(y.failed), 0)::int
  FROM platform_tally y
 WHERE y.organisation = %(organisation)s::uuid AND y.platform = %(platform)s::text
   AND y.at > clock_timestamp() - %(window_s)s::int * interval '1 second';

-- name: forget_tallies
DELETE FROM platform_tally
 WHERE organisation = %(organisation)s::uuid AND at < statement_timestamp() - interval '1 hour';

-- name: trip
INSERT INTO platform_breaker (organisation, platform, reason, probe_at)
VALUES (%(organisation)s::uuid, %(platform)s::text, %(reason)s::text,
        clock_timestamp() + %(probe_s)s::float8 * interval '1 second')
    ON CONFLICT DO NOTHING
RETURNING platform;

-- name: probe
-- One task goes out to see. If nothing is heard of it, the next may go when this time has passed.
UPDATE platform_breaker
   SET probe = %(task)s::uuid, probes = probes + 1, probe_at = clock_timestamp() + %(probe_s)s::float8 * interval '1 second'
 WHERE organisation = %(organisation)s::uuid AND platform = %(platform)s::text;

-- name: close_breaker
DELETE FROM platform_breaker
 WHERE organisation = %(organisation)s::uuid AND platform = %(platform)s::text
RETURNING platform;

-- name: breakers
SELECT b.platform, b.opened_at, b.reason, b.probes, b.probe, b.probe_at,
       EXISTS (SELECT
                 FROM task t
                WHERE t.organisation = %(organisation)s::uuid AND t.id = b.probe AND t.lease IS NOT NULL) AS is_probing
  FROM platform_breaker b
 WHERE b.organisation = %(organisation)s::uuid;

-- name: waiting
-- What may be begun at a platform, in its order.
SELECT t.id, t.platform, t.task_type, t.priority, t.created_at, t.fence
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.platform = %(platform)s::text AND t.status = 'pending'
   AND t.not_before <= clock_timestamp() AND t.deadline_at > coalesce(t.paused_at, clock_timestamp())
   AND (%(task_types)s::text[] IS NULL OR t.task_type = ANY(%(task_types)s::text[]))
   AND CASE WHEN %(is_canary)s::boolean THEN t.canary
            ELSE NOT t.canary OR t.created_at < clock_timestamp() - %(canary_s)s::int * interval '1 second' END
 ORDER BY t.priority DESC, t.created_at, t.id
 LIMIT %(limit)s::int
   FOR UPDATE SKIP LOCKED;

-- name: dispatch
-- The leases are granted, each under the next fence; the tasks, which were found waiting and kept from others, say so. (To
-- ask for `pending` again would have all that wait gone through.) No broker has heard of this grant, whatever came before.
UPDATE task t
   SET status = 'dispatched', sub_status = NULL, fence = l.fence, lease = l.id, back_at = l.expires_at,
       begun_at = coalesce(t.begun_at, clock_timestamp()), updated_at = clock_timestamp(), published_at = NULL,
       queue_until = NULL
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[])
   AND t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[]) AND t.id = l.resource
   AND t.fence = l.fence - 1
RETURNING t.platform, extract(epoch FROM clock_timestamp() - t.not_before)::float8 AS lag_s;

-- name: orders
-- Everything a crawler is told.
SELECT t.id, t.lease, t.job, t.attempt, t.fence, t.platform, t.task_type, j.payload, j.time_range, t.cursor,
       t.deadline_at + coalesce(clock_timestamp() - t.paused_at, interval '0') AS deadline_at, j.trace_ctx,
       t.attempt > 1 OR t.losses > 0 AS is_retry, t.organisation, p.phase
  FROM task t
  JOIN job j ON j.organisation = %(organisation)s::uuid AND j.id = t.job
  LEFT JOIN platform_phase p ON p.organisation = %(organisation)s::uuid AND p.platform = t.platform
 WHERE t.organisation = %(organisation)s::uuid AND t.lease = ANY(%(leases)s::uuid[]);

-- name: look
-- Why there may be nothing at these platforms, and when there may be.
SELECT count(*) FILTER (WHERE t.status = 'pending' AND t.not_before <= now.at)::int AS ready,
       count(*) FILTER (WHERE t.status = 'pending' AND t.not_before > now.at)::int AS resting,
       count(*) FILTER (WHERE t.lease IS NOT NULL)::int AS in_hand,
       min(t.not_before) FILTER (WHERE t.status = 'pending' AND t.not_before > now.at) AS next_at,
       extract(epoch FROM min(t.not_before - now.at) FILTER (WHERE t.status = 'pending' AND t.not_before > now.at))::float8
           AS in_s
  FROM (SELECT clock_timestamp() AS at OFFSET 0) AS now
  LEFT JOIN task t ON t.organisation = %(organisation)s::uuid AND t.ended_at IS NULL
        AND (%(platforms)s::text[] IS NULL OR t.platform = ANY(%(platforms)s::text[]));

-- name: bury
INSERT INTO dead_letter (id, organisation, platform, job, task, attempt, reason, detail, payload)
SELECT g.id, %(organisation)s::uuid, g.platform, g.job, g.task, g.attempt, g.reason, g.detail,
       CASE WHEN g.payload = '{}' THEN coalesce(j.payload, '{}') ELSE g.payload::jsonb END
  FROM unnest(%(ids)s::uuid[], %(platforms)s::text[], %(jobs)s::text[], %(tasks)s::uuid[], %(attempts)s::int[],
              %(reasons)s::text[], %(details)s::text[], %(payloads)s::text[])
       AS g (id, platform, job, task, attempt, reason, detail, payload)
  LEFT JOIN job j ON j.organisation = %(organisation)s::uuid AND j.id = g.job;

-- name: dead_letters
SELECT d.id, d.at, d.platform, d.job, d.attempt, d.reason, d.detail, d.payload, d.replayed_at
  FROM dead_letter d
 WHERE d.organisation = %(organisation)s::uuid
   AND (%(platform)s::text IS NULL OR d.platform = %(platform)s::text)
   AND (%(reason)s::text IS NULL OR d.reason = %(reason)s::text)
   AND (%(replayed)s::boolean IS NULL OR (d.replayed_at IS NOT NULL) = %(replayed)s::boolean)
   AND (%(before)s::timestamptz IS NULL OR (d.at, d.id) < (%(before)s::timestamptz, %(before_key)s::uuid))
 ORDER BY d.at DESC, d.id DESC
 LIMIT %(limit)s::int;

-- name: extend
-- More time and one more attempt, for what an operator wants to have tried again; and its job has as long.
WITH extended AS (
    UPDATE task t
       SET deadline_at = greatest(t.deadline_at, clock_timestamp() + %(deadline_s)s::int * interval '1 second'),
           max_attempts = greatest(t.max_attempts, t.attempt + 1), losses = 0
     WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[])
    RETURNING t.job, t.deadline_at
)
UPDATE job j
   SET deadline_at = greatest(j.deadline_at, e.deadline_at)
  FROM (SELECT job, max(deadline_at) AS deadline_at FROM extended GROUP BY job) AS e
 WHERE j.organisation = %(organisation)s::uuid AND j.id = e.job;

-- name: steer
-- Parts that live go at another priority; those that wait begin at another time. What was left until the deadline is left
-- from then on. Each is told with the time it begins at.
UPDATE task t
   SET priority = coalesce(%(priority)s::smallint, t.priority),
       not_before = CASE WHEN t.status = 'pending' THEN coalesce(greatest(%(begin)s::timestamptz, now.at), t.not_before)
                         ELSE t.not_before END,
       deadline_at = CASE WHEN t.status = 'pending' AND %(begin)s::timestamptz > greatest(t.not_before, now.at)
                          THEN t.deadline_at + (%(begin)s::timestamptz - greatest(t.not_before, now.at))
                          ELSE t.deadline_at END,
       updated_at = now.at
  FROM (SELECT clock_timestamp() AS at OFFSET 0) AS now
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[]) AND t.ended_at IS NULL
RETURNING t.id, t.not_before;

-- name: steer_job
UPDATE job j
   SET priority = coalesce(%(priority)s::smallint, j.priority),
       deadline_at = greatest(j.deadline_at, (SELECT max(t.deadline_at)
                                                FROM task t
                                               WHERE t.organisation = %(organisation)s::uuid AND t.job = j.id))
 WHERE j.organisation = %(organisation)s::uuid AND j.id = %(job)s::text;

-- name: books
-- Accepted is counted by requests, the rest by where they are: that both agree is what is checked.
SELECT p.platform, count(*)::int AS accepted,
       count(*) FILTER (WHERE t.status = 'completed')::int AS completed,
       count(*) FILTER (WHERE t.status = 'failed')::int AS failed,
       count(*) FILTER (WHERE t.status = 'timed_out')::int AS timed_out,
       count(*) FILTER (WHERE t.status = 'cancelled')::int AS cancelled,
       count(*) FILTER (WHERE t.status IN ('pending', 'dispatched', 'processing'))::int AS live
  FROM job j
 CROSS JOIN LATERAL unnest(j.platforms) AS p (platform)
  LEFT JOIN task t ON t.organisation = %(organisation)s::uuid AND t.job = j.id AND t.platform = p.platform
 WHERE j.organisation = %(organisation)s::uuid
 GROUP BY p.platform
 ORDER BY p.platform;

-- name: depths
-- How each platform stands with us.
SELECT t.platform, count(*) FILTER (WHERE t.status = 'pending')::int AS depth,
       extract(epoch FROM clock_timestamp() - min(t.created_at) FILTER (WHERE t.status = 'pending'))::float8 AS oldest_s,
       count(*) FILTER (WHERE t.lease IS NOT NULL)::int AS in_flight
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.ended_at IS NULL
   AND (%(platform)s::text IS NULL OR t.platform = %(platform)s::text)
 GROUP BY t.platform;

-- name: stands
-- What is not over, by platform and status; of what may be begun, since when the first could have been.
SELECT t.platform, t.status, count(*)::int, count(t.lease)::int AS in_hand,
       extract(epoch FROM clock_timestamp() - min(t.not_before)
           FILTER (WHERE t.status = 'pending' AND t.not_before <= clock_timestamp()))::float8 AS due_s
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.ended_at IS NULL
 GROUP BY t.platform, t.status;

-- name: failure_rates
SELECT t.platform,
       (count(*) FILTER (WHERE t.status IN ('failed', 'timed_out')))::float8 / count(*) AS failure_rate
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.ended_at > statement_timestamp() - interval '1 hour'
   AND (%(platform)s::text IS NULL OR t.platform = %(platform)s::text)
 GROUP BY t.platform;

-- name: pauses
SELECT p.platform, p.paused_at, p.by_name, p.reason
  FROM platform_pause p
 WHERE p.organisation = %(organisation)s::uuid;

-- name: pause
INSERT INTO platform_pause (organisation, platform, by_name, reason)
VALUES (%(organisation)s::uuid, %(platform)s::text, %(by_name)s::text, %(reason)s::text)
ON CONFLICT (organisation, platform) DO NOTHING;

-- name: resume
DELETE FROM platform_pause
 WHERE organisation = %(organisation)s::uuid AND platform = %(platform)s::text;

-- name: holders
-- Who has tasks of a platform in hand, those with most of them first, and when the first of their leases runs out.
SELECT l.owner, count(*)::int AS tasks, min(l.expires_at) AS until
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.kind = 'task' AND l.site = %(platform)s::text
 GROUP BY l.owner
 ORDER BY count(*) DESC, l.owner
 LIMIT %(limit)s::int;

-- name: mark_published
-- The broker has confirmed them, and from now on they lie in its queue.
UPDATE task t
   SET published_at = clock_timestamp(), queue_until = clock_timestamp() + g.queue_s * interval '1 second'
  FROM unnest(%(leases)s::uuid[], %(queue_s)s::int[]) AS g (lease, queue_s)
 WHERE t.organisation = %(organisation)s::uuid AND t.lease = g.lease;

-- name: keep_queued
-- The last that were published, whosever they are, are those that lie in the queue still: nobody can have begun them, so
-- the time of ours there begins anew.
UPDATE task t
   SET queue_until = clock_timestamp() + g.queue_s * interval '1 second'
  FROM unnest(%(platforms)s::text[], %(depths)s::int[], %(queue_s)s::int[]) AS g (platform, depth, queue_s)
 CROSS JOIN LATERAL platform_queued_since(g.platform, g.depth) AS since (at)
 WHERE t.organisation = %(organisation)s::uuid AND t.platform = g.platform AND t.status = 'dispatched'
   AND t.published_at >= since.at AND t.queue_until < clock_timestamp() + g.queue_s * interval '0.5 seconds';

-- name: queued
-- Leases of what lies in a queue, and that run out within half their time.
SELECT l.id
  FROM task t
  JOIN lease l ON l.organisation = %(organisation)s::uuid AND l.id = t.lease
 WHERE t.organisation = %(organisation)s::uuid AND t.status = 'dispatched' AND t.queue_until > statement_timestamp()
   AND l.expires_at > clock_timestamp()
   AND l.expires_at < clock_timestamp() + l.ttl_seconds * interval '0.6 seconds';

-- name: ahead
-- How many would go before a task at its platform.
SELECT count(*)::int
  FROM task t
  JOIN task mine ON mine.id = %(task)s::uuid AND mine.organisation = %(organisation)s::uuid
 WHERE t.organisation = %(organisation)s::uuid AND t.platform = mine.platform AND t.status = 'pending'
   AND (-t.priority, t.created_at, t.id) < (-mine.priority, mine.created_at, mine.id);

-- name: letter_counts
-- How many letters there are of each reason, and how many of them nobody has replayed.
SELECT d.platform, d.reason, count(*)::int AS total, count(*) FILTER (WHERE d.replayed_at IS NULL)::int AS open,
       max(d.at) AS last_at
  FROM dead_letter d
 WHERE d.organisation = %(organisation)s::uuid
   AND (%(platform)s::text IS NULL OR d.platform = %(platform)s::text)
 GROUP BY d.platform, d.reason
 ORDER BY open DESC, total DESC, d.reason, d.platform
 LIMIT %(limit)s::int;

-- name: count_letters
-- How many a replay is meant for, and the time after which letters are not: what fails again meanwhile is not replayed.
SELECT count(d.id)::int, now.at
  FROM (SELECT clock_timestamp() AS at OFFSET 0) AS now
  LEFT JOIN dead_letter d ON d.organisation = %(organisation)s::uuid AND d.at <= now.at
        AND (%(named)s::uuid[] IS NULL OR d.id = ANY(%(named)s::uuid[]))
        AND (%(platform)s::text IS NULL OR d.platform = %(platform)s::text)
        AND (%(reason)s::text IS NULL OR d.reason = %(reason)s::text)
        AND (%(after)s::timestamptz IS NULL OR d.at >= %(after)s::timestamptz)
        AND (%(before)s::timestamptz IS NULL OR d.at < %(before)s::timestamptz)
        AND (%(with_replayed)s::boolean OR d.replayed_at IS NULL)
 GROUP BY now.at;

-- name: hold_letters
-- The next that a replay is meant for, the oldest first, kept from other replays. A letter is about a result when it is
-- the message itself that was refused.
SELECT d.id, d.at, d.platform, d.job, d.task, d.reason, d.payload, d.replayed_at IS NOT NULL AS is_replayed,
       d.task IS NOT NULL AND d.payload ?& ARRAY['job_id', 'attempt', 'fence', 'payload_chunk'] AS is_result,
       (SELECT j.run_id FROM job j WHERE j.organisation = %(organisation)s::uuid AND j.id = d.job) AS run_id
  FROM dead_letter d
 WHERE d.organisation = %(organisation)s::uuid AND d.at <= %(until)s::timestamptz
   AND (%(named)s::uuid[] IS NULL OR d.id = ANY(%(named)s::uuid[]))
   AND (%(platform)s::text IS NULL OR d.platform = %(platform)s::text)
   AND (%(reason)s::text IS NULL OR d.reason = %(reason)s::text)
   AND (%(after)s::timestamptz IS NULL OR d.at >= %(after)s::timestamptz)
   AND (%(before)s::timestamptz IS NULL OR d.at < %(before)s::timestamptz)
   AND (%(with_replayed)s::boolean OR d.replayed_at IS NULL)
   AND (%(place)s::timestamptz IS NULL OR (d.at, d.id) > (%(place)s::timestamptz, %(place_id)s::uuid))
 ORDER BY d.at, d.id
 LIMIT %(limit)s::int
   FOR UPDATE;

-- name: open_replay
INSERT INTO replay (id, organisation, by_name, rate_per_second, matched, left_over)
VALUES (%(replay)s::uuid, %(organisation)s::uuid, %(by_name)s::text, %(rate)s::float8, %(matched)s::int, %(left_over)s::int);

-- name: hold_replay
-- Kept from others: a batch goes on only where nobody has stopped it.
SELECT r.stopped_at IS NOT NULL
  FROM replay r
 WHERE r.organisation = %(organisation)s::uuid AND r.id = %(replay)s::uuid
   FOR UPDATE;

-- name: count_replayed
UPDATE replay r
   SET replayed = r.replayed + %(more)s::int, skipped = r.skipped || %(skipped)s::jsonb
 WHERE r.organisation = %(organisation)s::uuid AND r.id = %(replay)s::uuid;

-- name: end_replay
UPDATE replay r
   SET ended_at = coalesce(r.ended_at, clock_timestamp())
 WHERE r.organisation = %(organisation)s::uuid AND r.id = %(replay)s::uuid;

-- name: stop_replay
UPDATE replay r
   SET stopped_at = coalesce(r.stopped_at, clock_timestamp()), ended_at = coalesce(r.ended_at, clock_timestamp())
 WHERE r.organisation = %(organisation)s::uuid AND r.id = %(replay)s::uuid;

-- name: replays
-- With how much of each has not begun, and when the last of that may.
SELECT r.id, r.at, r.by_name, r.rate_per_second, r.matched, r.left_over, r.replayed, r.skipped, r.ended_at, r.stopped_at,
       w.waiting, w.last_at
  FROM replay r
 CROSS JOIN LATERAL (
       SELECT count(*)::int AS waiting, max(t.not_before) AS last_at
         FROM task t
        WHERE t.organisation = %(organisation)s::uuid AND t.replay = r.id AND t.status = 'pending'
          AND t.sub_status = 'replayed') w
 WHERE r.organisation = %(organisation)s::uuid
   AND (%(replay)s::uuid IS NULL OR r.id = %(replay)s::uuid)
   AND (%(before)s::timestamptz IS NULL OR (r.at, r.id) < (%(before)s::timestamptz, %(before_id)s::uuid))
 ORDER BY r.at DESC, r.id DESC
 LIMIT %(limit)s::int;

-- name: take_up
-- Time from when it may begin, an attempt to begin, and who can stop it. Its job, which was rolled up just now and is ours
-- by that, has as long.
WITH extended AS (
    UPDATE task t
       SET not_before = clock_timestamp() + g.rest_s * interval '1 second',
           deadline_at = greatest(t.deadline_at, clock_timestamp() + (g.rest_s + g.deadline_s) * interval '1 second'),
           max_attempts = greatest(t.max_attempts, t.attempt), sub_status = 'replayed', replay = %(replay)s::uuid
      FROM unnest(%(tasks)s::uuid[], %(rests)s::float8[], %(deadlines)s::int[]) AS g (id, rest_s, deadline_s)
     WHERE t.organisation = %(organisation)s::uuid AND t.id = g.id
    RETURNING t.job, t.deadline_at
)
UPDATE job j
   SET deadline_at = greatest(j.deadline_at, e.deadline_at)
  FROM (SELECT job, max(deadline_at) AS deadline_at FROM extended GROUP BY job) AS e
 WHERE j.organisation = %(organisation)s::uuid AND j.id = e.job;

-- name: mark_replayed
UPDATE dead_letter d
   SET replayed_at = clock_timestamp(), replay = %(replay)s::uuid, job = coalesce(d.job, g.job)
  FROM unnest(%(letters)s::uuid[], %(jobs)s::text[]) AS g (id, job)
 WHERE d.organisation = %(organisation)s::uuid AND d.id = g.id;

-- name: replayed_letters
SELECT d.id, d.job, d.task IS NOT NULL AS is_again
  FROM dead_letter d
 WHERE d.organisation = %(organisation)s::uuid AND d.replay = %(replay)s::uuid
 ORDER BY d.at, d.id;

-- name: hold_replayed
-- Letters come before tasks wherever both are held: who stops a replay and who replays again wait for each other in turn.
SELECT d.id
  FROM dead_letter d
 WHERE d.organisation = %(organisation)s::uuid AND d.replay = %(replay)s::uuid
 ORDER BY d.at, d.id
   FOR UPDATE;

-- name: hold_unbegun
-- What a replay took up and no worker has begun, kept from those who ask for work.
SELECT t.id
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.replay = %(replay)s::uuid AND t.status = 'pending'
   AND t.sub_status = 'replayed'
 ORDER BY t.id
 LIMIT %(limit)s::int
   FOR UPDATE;

-- name: reopen_letters
-- As if these tasks had not been replayed; says why each was here.
UPDATE dead_letter d
   SET replayed_at = NULL, replay = NULL
 WHERE d.organisation = %(organisation)s::uuid AND d.replay = %(replay)s::uuid AND d.task = ANY(%(tasks)s::uuid[])
RETURNING d.task, d.reason;

-- name: lease_books
-- Every grant ended somehow or is held. The lowest 29 bits of a fence count grants (leases/fences.py).
SELECT coalesce(sum(r.fence & 536870911), 0)::bigint, coalesce(sum(e.released), 0)::bigint,
       coalesce(sum(e.expired), 0)::bigint, coalesce(sum(e.revoked), 0)::bigint, count(l.id),
       count(*) FILTER (WHERE (r.fence & 536870911) <> coalesce(e.ends, 0) + CASE WHEN l.id IS NULL THEN 0 ELSE 1 END),
       count(*) FILTER (WHERE (r.lease IS NULL) <> (l.id IS NULL) OR r.lease <> l.id OR r.fence < l.fence)
  FROM task r
  LEFT JOIN lease l ON l.resource = r.id AND l.organisation = %(organisation)s::uuid
  LEFT JOIN (SELECT resource, count(*) AS ends, count(*) FILTER (WHERE how = 'released') AS released,
                    count(*) FILTER (WHERE how = 'expired') AS expired,
                    count(*) FILTER (WHERE how IN ('revoked', 'superseded')) AS revoked
               FROM lease_end
              WHERE organisation = %(organisation)s::uuid AND kind = 'task'
              GROUP BY resource) e ON e.resource = r.id
 WHERE r.organisation = %(organisation)s::uuid;
