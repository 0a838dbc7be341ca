-- name: accept
-- Nothing when the job is there already: the first request stands.
INSERT INTO job (organisation, id, task_type, platforms, payload, time_range, priority, trace_ctx, metadata, run_id, more,
                 deadline_at)
VALUES (%(organisation)s::uuid, %(job)s::text, %(task_type)s::text, %(platforms)s::text[], %(payload)s::jsonb,
        %(time_range)s::jsonb, %(priority)s::smallint, %(trace_ctx)s::jsonb, %(metadata)s::jsonb, %(run_id)s::text,
        %(more)s::jsonb, clock_timestamp() + %(deadline_s)s::int * interval '1 second')
ON CONFLICT DO NOTHING
RETURNING id;

-- name: add_tasks
INSERT INTO task (id, organisation, job, platform, task_type, priority, max_attempts, deadline_at)
SELECT g.id, %(organisation)s::uuid, j.id, g.platform, j.task_type, j.priority, g.attempts, j.deadline_at
  FROM unnest(%(tasks)s::uuid[], %(platforms)s::text[], %(attempts)s::int[]) AS g (id, platform, attempts)
 CROSS JOIN job j
 WHERE j.organisation = %(organisation)s::uuid AND j.id = %(job)s::text;

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

-- name: page
SELECT j.id
  FROM job j
 WHERE j.organisation = %(organisation)s::uuid
   AND (%(status)s::text IS NULL OR j.status = %(status)s::text)
   AND (%(platform)s::text IS NULL OR %(platform)s::text = ANY(j.platforms))
   AND (%(before)s::timestamptz IS NULL OR (j.created_at, j.id) < (%(before)s::timestamptz, %(before_id)s::text))
 ORDER BY j.created_at DESC, j.id DESC
 LIMIT %(limit)s::int;

-- name: tasks_of
SELECT t.id, t.job, t.platform, t.task_type, t.status, t.attempt, t.max_attempts, t.fence, t.sub_status, t.losses,
       t.lease IS NOT NULL AND l.expires_at > clock_timestamp() AS is_held, t.cursor, t.seen, t.final_seq,
       t.final_status, t.result_count, t.last_error, t.not_before, t.deadline_at, t.begun_at, t.ended_at, t.updated_at,
       t.lease, t.status = 'pending' AND t.not_before > clock_timestamp() AS is_resting
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

-- name: hold_tasks
SELECT t.id
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[])
 ORDER BY t.id
   FOR UPDATE;

-- name: jobs_of_tasks
SELECT DISTINCT t.job
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[])
 ORDER BY t.job;

-- name: history
SELECT e.task, e.at, e.event, e.attempt, e.fence, e.detail
  FROM task_event e
 WHERE e.organisation = %(organisation)s::uuid AND e.task = ANY(%(tasks)s::uuid[])
 ORDER BY e.at, e.id
 LIMIT %(limit)s::int;

-- name: known
-- What came under these cursors before.
SELECT r.task, r.key, r.sha256
  FROM receipt r
  JOIN unnest(%(tasks)s::uuid[], %(marks)s::bytea[]) AS g (task, key) ON r.task = g.task AND r.key = g.key
 WHERE r.organisation = %(organisation)s::uuid;

-- name: receive
-- Accepted, and in the same breath written: the writer is this database. Each chunk in its turn, whole.
WITH given AS (
    SELECT *
      FROM unnest(%(tasks)s::uuid[], %(marks)s::bytea[], %(cursors)s::text[], %(attempts)s::int[], %(fences)s::bigint[],
                  %(digests)s::bytea[], %(chunks)s::text[], %(lates)s::boolean[])
           WITH ORDINALITY AS g (task, key, cursor, attempt, fence, sha256, chunk, late, turn)
), kept AS (
    INSERT INTO receipt (task, organisation, key, cursor, attempt, fence, sha256, documents, late, written_at)
    SELECT g.task, %(organisation)s::uuid, g.key, g.cursor::jsonb, g.attempt, g.fence, g.sha256,
           jsonb_array_length(g.chunk::jsonb), g.late, clock_timestamp()
      FROM given g
     ORDER BY g.turn
    RETURNING task, key, number
)
INSERT INTO result (task, organisation, key, number, place, document)
SELECT k.task, %(organisation)s::uuid, k.key, k.number, d.place, d.document
  FROM kept k
  JOIN given g USING (task, key)
 CROSS JOIN LATERAL jsonb_array_elements(g.chunk::jsonb) WITH ORDINALITY AS d (document, place);

-- name: results
SELECT t.platform, r.number, r.place, r.document
  FROM result r
  JOIN task t ON t.id = r.task AND t.organisation = %(organisation)s::uuid
 WHERE r.organisation = %(organisation)s::uuid AND r.task = ANY(%(tasks)s::uuid[])
   AND (%(after)s::bigint IS NULL OR (r.number, r.place) > (%(after)s::bigint, %(after_place)s::int))
 ORDER BY r.number, r.place
 LIMIT %(limit)s::int;

-- name: settle
-- As their lives go on. Who has no lease any more says so, and when it has to be looked at again.
UPDATE task t
   SET status = g.status, sub_status = g.sub_status, attempt = g.attempt, losses = g.losses, cursor = g.cursor::jsonb,
       seen = g.seen::int4multirange, final_seq = g.final_seq, final_status = g.final_status,
       result_count = g.result_count, last_error = g.last_error::jsonb,
       lease = CASE WHEN g.is_held THEN t.lease END,
       back_at = CASE WHEN g.is_held THEN t.back_at
                      WHEN g.final_seq IS NOT NULL AND NOT g.is_over
                      THEN clock_timestamp() + g.patience_s * interval '1 second' END,
       not_before = CASE WHEN g.rest_s IS NULL THEN t.not_before
                         ELSE clock_timestamp() + g.rest_s * interval '1 second' END,
       ended_at = CASE WHEN NOT g.is_over THEN NULL ELSE coalesce(t.ended_at, clock_timestamp()) END,
       updated_at = clock_timestamp()
  FROM unnest(%(tasks)s::uuid[], %(statuses)s::text[], %(sub_statuses)s::text[], %(attempts)s::int[], %(losses)s::int[],
              %(cursors)s::text[], %(seens)s::text[], %(final_seqs)s::int[], %(final_statuses)s::text[],
              %(result_counts)s::int[], %(last_errors)s::text[], %(holds)s::boolean[], %(over)s::boolean[],
              %(rests)s::float8[], %(patiences)s::int[])
       AS g (id, status, sub_status, attempt, losses, cursor, seen, final_seq, final_status, result_count, last_error,
             is_held, is_over, rest_s, patience_s)
 WHERE t.organisation = %(organisation)s::uuid AND t.id = g.id;

-- name: roll_up
UPDATE job j
   SET status = g.status,
       ended_at = CASE WHEN NOT g.is_over THEN NULL ELSE coalesce(j.ended_at, clock_timestamp()) END
  FROM unnest(%(jobs)s::text[], %(statuses)s::text[], %(over)s::boolean[]) AS g (id, status, is_over)
 WHERE j.organisation = %(organisation)s::uuid AND j.id = g.id AND j.status <> g.status;

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
SELECT DISTINCT t.job
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.ended_at IS NULL AND t.deadline_at <= statement_timestamp()
 LIMIT %(limit)s::int;

-- name: guard
-- Grants at a platform go one batch after the other, over all organisations: `count(*) < limit` alone is overtaken.
SELECT pg_advisory_xact_lock(hashtextextended(wanted.platform, 5))
  FROM (SELECT platform FROM unnest(%(platforms)s::text[]) AS given (platform) ORDER BY platform OFFSET 0) wanted;

-- name: loads
-- What is in hand at each platform: by everybody, and by us; and how many organisations wait for it.
SELECT g.platform, load.in_hand, load.waiting,
       (SELECT count(*)::int
          FROM task t
         WHERE t.organisation = %(organisation)s::uuid AND t.platform = g.platform AND t.lease IS NOT NULL) AS ours,
       EXISTS (SELECT
                 FROM platform_pause p
                WHERE p.organisation = %(organisation)s::uuid AND p.platform = g.platform) AS is_paused
  FROM unnest(%(platforms)s::text[]) AS g (platform)
 CROSS JOIN LATERAL platform_load(g.platform) AS load;

-- name: waiting
-- What may be begun at a platform, in its order.
SELECT t.id, t.platform, t.task_type, t.priority, t.created_at
  FROM task t
 WHERE t.organisation = %(organisation)s::uuid AND t.platform = %(platform)s::text AND t.status = 'pending'
   AND t.not_before <= clock_timestamp() AND t.deadline_at > clock_timestamp()
   AND (%(task_types)s::text[] IS NULL OR t.task_type = ANY(%(task_types)s::text[]))
 ORDER BY t.priority DESC, t.created_at, t.id
 LIMIT %(limit)s::int
   FOR UPDATE SKIP LOCKED;

-- name: raise_fences
UPDATE task t
   SET fence = t.fence + 1
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[]) AND t.status = 'pending'
RETURNING t.id, t.fence;

-- name: dispatch
-- The leases are granted; the tasks say so.
UPDATE task t
   SET status = 'dispatched', sub_status = NULL, lease = l.id, back_at = l.expires_at,
       begun_at = coalesce(t.begun_at, clock_timestamp()), updated_at = clock_timestamp()
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[])
   AND t.organisation = %(organisation)s::uuid AND t.id = l.resource AND t.status = 'pending' AND t.fence = l.fence;

-- name: orders
-- Everything a crawler is told.
SELECT t.id, t.lease, t.job, t.attempt, t.fence, t.platform, t.task_type, j.payload, j.time_range, t.cursor,
       t.deadline_at, j.trace_ctx, t.attempt > 1 OR t.losses > 0 AS is_retry
  FROM task t
  JOIN job j ON j.organisation = %(organisation)s::uuid AND j.id = t.job
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
   AND (%(before)s::timestamptz IS NULL OR (d.at, d.id) < (%(before)s::timestamptz, %(before_key)s::uuid))
 ORDER BY d.at DESC, d.id DESC
 LIMIT %(limit)s::int;

-- name: extend
-- More time and one more attempt, for what an operator wants to have tried again.
UPDATE task t
   SET deadline_at = greatest(t.deadline_at, clock_timestamp() + %(deadline_s)s::int * interval '1 second'),
       max_attempts = greatest(t.max_attempts, t.attempt + 1), losses = 0
 WHERE t.organisation = %(organisation)s::uuid AND t.id = ANY(%(tasks)s::uuid[]);

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

-- name: ahead
-- How many would go before a task at its platform.
SELECT count(*)::int
  FROM task t
  JOIN task mine ON mine.id = %(task)s::uuid AND mine.organisation = %(organisation)s::uuid
 WHERE t.organisation = %(organisation)s::uuid AND t.platform = mine.platform AND t.status = 'pending'
   AND (-t.priority, t.created_at, t.id) < (-mine.priority, mine.created_at, mine.id);
