-- name: today
SELECT clock_timestamp()::date;

-- name: allowance
SELECT budget_cap_micros, soft_warning_percent, max_concurrent_runs
  FROM organisation_setting
 WHERE organisation = %(organisation)s::uuid;

-- name: allow
INSERT INTO organisation_setting AS s (organisation, budget_cap_micros, soft_warning_percent, max_concurrent_runs)
VALUES (%(organisation)s::uuid, %(cap)s::bigint, %(soft)s::smallint, %(slots)s::smallint)
    ON CONFLICT (organisation) DO UPDATE
   SET budget_cap_micros = EXCLUDED.budget_cap_micros, soft_warning_percent = EXCLUDED.soft_warning_percent,
       max_concurrent_runs = EXCLUDED.max_concurrent_runs;

-- name: guard_slots
-- Whoever gives out slots of an organisation does so one after the other.
SELECT pg_advisory_xact_lock(hashtextextended('run-slots:' || %(organisation)s::uuid::text, 0));

-- name: slots_taken
SELECT count(*)::int
  FROM run
 WHERE organisation = %(organisation)s::uuid AND status = 'running';

-- name: next_in_line
SELECT id
  FROM run
 WHERE organisation = %(organisation)s::uuid AND sub_status = 'waiting'
 ORDER BY wanted_at, id
 LIMIT %(limit)s::int
   FOR UPDATE;

-- name: create
INSERT INTO run (id, organisation, name, collector, platform, categories, estimate, estimated_cost_micros,
                 budget_cap_micros, has_own_cap, is_cap_planned, skip_collected_days, soft_warning_percent, total_items,
                 created_by)
VALUES (%(run)s::uuid, %(organisation)s::uuid,
        coalesce(%(name)s::text, 'Collection ' || to_char(clock_timestamp(), 'YYYY-MM-DD HH24:MI')), %(collector)s::text,
        %(platform)s::text, %(categories)s::text[], %(estimate)s::text::jsonb, %(cost)s::bigint, %(cap)s::bigint,
        %(is_planned)s::boolean, %(is_planned)s::boolean, %(skip_days)s::smallint, %(soft)s::smallint, %(total)s::bigint, %(created_by)s::text);

-- name: runs
SELECT r.id, r.name, r.collector, r.platform, r.categories, r.status, r.sub_status, r.pause_reason, r.pause_detail, r.estimate,
       r.estimated_cost_micros, r.budget_cap_micros, r.has_own_cap, r.is_cap_planned, r.skip_collected_days, r.soft_warning_percent, r.warned_cap_micros,
       r.spent_micros, r.reserved_micros, r.total_items, r.processed_items, r.failed_items, r.skipped_items, r.place,
       r.checkpoint_at, r.recent_items, r.recent_failed, r.warnings, r.last_seq, r.created_by, r.created_at, r.wanted_at,
       r.started_at, r.paused_at, r.completed_at, r.driver_fence, r.dropped_categories, r.max_in_flight,
       CASE WHEN r.sub_status = 'waiting'
            THEN (SELECT count(*)::int
                    FROM run o
                   WHERE o.organisation = %(organisation)s::uuid AND o.sub_status = 'waiting'
                     AND (o.wanted_at, o.id) <= (r.wanted_at, r.id)) END AS position,
       (SELECT count(*)::int
          FROM run_item i
         WHERE i.organisation = %(organisation)s::uuid AND i.run = r.id AND i.status = 'processing') AS in_flight,
       (SELECT count(*)::int
          FROM run_item i
         WHERE i.organisation = %(organisation)s::uuid AND i.run = r.id AND i.status = 'pending') AS to_begin_again
  FROM run r
 WHERE r.organisation = %(organisation)s::uuid AND r.id = ANY(%(runs)s::uuid[]);

-- name: page
SELECT id
  FROM run
 WHERE organisation = %(organisation)s::uuid
   AND (%(statuses)s::text[] IS NULL OR status = ANY(%(statuses)s::text[]))
   AND (%(used_percent)s::int IS NULL
        OR (spent_micros + reserved_micros) * 100 >= budget_cap_micros * %(used_percent)s::int)
   AND (%(created_by)s::text IS NULL OR created_by = %(created_by)s::text)
   AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s::timestamptz, %(before_id)s::uuid))
 ORDER BY created_at DESC, id DESC
 LIMIT %(limit)s::int;

-- name: hold
SELECT id
  FROM run
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid
   FOR UPDATE;

-- name: hold_as_driver
-- Nothing for who drives it no more. Whoever still does, does so for a while longer.
UPDATE run
   SET driver_until = clock_timestamp() + %(lease_s)s::float8 * interval '1 second'
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid AND driver = %(driver)s::uuid
   AND driver_fence = %(fence)s::bigint AND driver_until > clock_timestamp()
RETURNING id;

-- name: freeze
UPDATE run
   SET config = %(config)s::text::jsonb, frozen_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: frozen
SELECT config, frozen_at
  FROM run
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: rename
UPDATE run SET name = %(name)s::text WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: set_cap
UPDATE run
   SET budget_cap_micros = %(cap)s::bigint, has_own_cap = true
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: set_pace
UPDATE run
   SET max_in_flight = %(most)s::int
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: drop
-- One that is paused has something to do again: what is in hand of them is taken back.
UPDATE run
   SET dropped_categories = %(dropped)s::text[], total_items = %(total)s::bigint,
       sub_status = CASE WHEN status = 'paused' THEN 'pausing' ELSE sub_status END
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: want
UPDATE run
   SET sub_status = 'waiting', wanted_at = clock_timestamp(), status = 'pending', completed_at = NULL, pause_reason = NULL,
       pause_detail = NULL, paused_at = NULL, resume_at = NULL,
       budget_cap_micros = coalesce(%(cap)s::bigint, budget_cap_micros),
       soft_warning_percent = coalesce(%(soft)s::smallint, soft_warning_percent)
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: run_on
UPDATE run
   SET status = 'running', sub_status = NULL, started_at = coalesce(started_at, clock_timestamp()), pause_reason = NULL,
       pause_detail = NULL, paused_at = NULL, resume_at = NULL, recent_items = 0, recent_failed = 0
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: pause
UPDATE run
   SET status = 'paused', pause_reason = %(reason)s::text, pause_detail = %(detail)s::text, paused_at = clock_timestamp(),
       resume_at = NULL,
       sub_status = CASE WHEN EXISTS (SELECT FROM run_item i
                                       WHERE i.organisation = %(organisation)s::uuid AND i.run = %(run)s::uuid
                                         AND i.status = 'processing') THEN 'pausing' END
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: paused_indeed
UPDATE run
   SET sub_status = NULL
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid AND sub_status = 'pausing';

-- name: resume_later
UPDATE run
   SET resume_at = clock_timestamp() + %(wait_s)s::float8 * interval '1 second'
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid AND resume_at IS NULL;

-- name: is_time_to_resume
SELECT resume_at IS NOT NULL AND resume_at <= clock_timestamp(), resume_at IS NULL
  FROM run
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: resuming
-- Those of a platform that are about to go on by themselves, or have just done so.
SELECT count(*)::int
  FROM run
 WHERE organisation = %(organisation)s::uuid AND platform = %(platform)s::text AND resume_at > clock_timestamp();

-- name: finish
UPDATE run
   SET status = %(status)s::text, sub_status = %(sub_status)s::text, pause_reason = NULL, pause_detail = NULL,
       completed_at = clock_timestamp(), resume_at = NULL,
       outcome = (SELECT jsonb_object_agg(c.category, to_jsonb(c))
                    FROM (SELECT category, count(*) AS found,
                                 count(*) FILTER (WHERE status IN ('completed', 'failed')) AS paid,
                                 sum(cost_micros) AS micros
                            FROM run_item
                           WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid
                           GROUP BY category) AS c)
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: learned
-- What the latest runs found and paid for, category by category, with a share of what listing cost them. Those that were
-- over before it was written down have their items counted.
SELECT g.category, (line.said ->> 'items')::bigint AS wanted, (line.said ->> 'unit_cost_micros')::bigint AS list_micros,
       coalesce(own.found, 0)::bigint AS found, coalesce(own.paid, 0)::bigint AS paid,
       coalesce(own.micros, 0)::bigint AS paid_micros,
       (coalesce(own.found, 0) * whole.listing / greatest(whole.found, 1))::bigint AS listed_micros
  FROM unnest(%(categories)s::text[]) AS g (category)
 CROSS JOIN LATERAL (
         SELECT r.id, r.estimate, r.spent_micros, r.outcome
           FROM run r
          WHERE r.organisation = %(organisation)s::uuid AND r.collector = %(collector)s::text AND r.status = 'completed'
            AND g.category = ANY(r.categories) AND g.category <> ALL(r.dropped_categories)
          ORDER BY r.created_at DESC, r.id DESC
          LIMIT %(limit)s::int) AS r
 CROSS JOIN LATERAL (
         SELECT coalesce(r.outcome,
                         (SELECT jsonb_object_agg(c.category, to_jsonb(c))
                            FROM (SELECT category, count(*) AS found,
                                         count(*) FILTER (WHERE status IN ('completed', 'failed')) AS paid,
                                         sum(cost_micros) AS micros
                                    FROM run_item
                                   WHERE organisation = %(organisation)s::uuid AND run = r.id
                                   GROUP BY category) AS c), '{}') AS said) AS outcome
 CROSS JOIN LATERAL (
         SELECT coalesce(sum((one.value ->> 'found')::bigint), 0) AS found,
                r.spent_micros - coalesce(sum((one.value ->> 'micros')::bigint), 0) AS listing
           FROM jsonb_each(outcome.said) AS one) AS whole
  LEFT JOIN LATERAL jsonb_to_record(outcome.said -> g.category) AS own (found bigint, paid bigint, micros bigint) ON true
 CROSS JOIN LATERAL (
         SELECT one.value AS said
           FROM jsonb_array_elements(r.estimate) AS one
          WHERE one.value ->> 'category' = g.category
          LIMIT 1) AS line;

-- name: wound_down
UPDATE run
   SET sub_status = NULL
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid AND sub_status = 'cancelling';

-- name: live
-- Over all organisations: what somebody has to drive and nobody does. One that is paused has nothing to be done for it but
-- to end what is in hand, and to try its provider.
SELECT organisation, id
  FROM run
 WHERE (status = 'running' OR sub_status IS NOT NULL OR pause_reason = 'provider_down')
   AND (driver IS NULL OR driver_until < clock_timestamp())
 ORDER BY status = 'paused', wanted_at, id
 LIMIT %(limit)s::int;

-- name: claim
-- The one who drives it, from now on, unless somebody does. Says whether the one before fell silent.
UPDATE run AS r
   SET driver = %(driver)s::uuid, driver_fence = r.driver_fence + 1,
       driver_until = clock_timestamp() + %(lease_s)s::float8 * interval '1 second'
  FROM (SELECT id, driver IS NOT NULL AS is_orphan
          FROM run
         WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid
           AND (status = 'running' OR sub_status IS NOT NULL OR pause_reason = 'provider_down')
           AND (driver IS NULL OR driver_until < clock_timestamp())
           FOR UPDATE SKIP LOCKED) AS was
 WHERE r.organisation = %(organisation)s::uuid AND r.id = was.id
RETURNING r.driver_fence, was.is_orphan;

-- name: let_go
UPDATE run
   SET driver = NULL, driver_until = NULL
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid AND driver = %(driver)s::uuid
   AND driver_fence = %(fence)s::bigint;

-- name: begin_items
INSERT INTO run_item (id, organisation, run, category, item_type, external_id, reserved_micros, job)
SELECT g.id, %(organisation)s::uuid, %(run)s::uuid, g.category, g.item_type, g.external_id, g.reserved, g.job
  FROM unnest(%(ids)s::uuid[], %(categories)s::text[], %(kinds)s::text[], %(names)s::text[], %(reserves)s::bigint[],
              %(jobs)s::text[]) AS g (id, category, item_type, external_id, reserved, job)
    ON CONFLICT (run, category, external_id) DO NOTHING
RETURNING id;

-- name: collected_lately
-- Of some names: those that another run of the collector has collected within so many days.
SELECT DISTINCT i.external_id
  FROM unnest(%(names)s::text[]) AS g (name)
  JOIN run_item i ON i.organisation = %(organisation)s::uuid AND i.category = %(category)s::text AND i.external_id = g.name
                 AND i.status = 'completed' AND i.run <> %(run)s::uuid
                 AND i.updated_at >= clock_timestamp() - %(days)s::int * interval '24 hours'
  JOIN run r ON r.organisation = %(organisation)s::uuid AND r.id = i.run AND r.collector = %(collector)s::text;

-- name: count_collected_lately
-- How many different things were collected within so many days, by category; looked for in the runs of that time alone.
SELECT i.category, count(DISTINCT i.external_id)::int
  FROM run r
  JOIN run_item i ON i.organisation = %(organisation)s::uuid AND i.run = r.id AND i.status = 'completed'
                 AND i.category = ANY(%(categories)s::text[])
                 AND i.updated_at >= clock_timestamp() - %(days)s::int * interval '24 hours'
 WHERE r.organisation = %(organisation)s::uuid AND r.collector = %(collector)s::text AND r.started_at IS NOT NULL
   AND (r.completed_at IS NULL OR r.completed_at >= clock_timestamp() - %(days)s::int * interval '24 hours')
 GROUP BY i.category;

-- name: skip_items
INSERT INTO run_item (id, organisation, run, category, item_type, external_id, status, error_code, error_message, job)
SELECT g.id, %(organisation)s::uuid, %(run)s::uuid, g.category, g.item_type, g.external_id, 'skipped', %(code)s::text,
       %(detail)s::text, ''
  FROM unnest(%(ids)s::uuid[], %(categories)s::text[], %(kinds)s::text[], %(names)s::text[])
       AS g (id, category, item_type, external_id)
    ON CONFLICT (run, category, external_id) DO NOTHING
RETURNING id, category, external_id;

-- name: count_skipped
SELECT count(*)::int
  FROM run_item
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND category = %(category)s::text
   AND status = 'skipped' AND error_code = %(code)s::text;

-- name: note_again
-- What failed, or failed so, waits for whoever drives the run. What its platform did not take has no job to do again.
WITH again AS (
    UPDATE run_item
       SET status = 'pending', updated_at = clock_timestamp()
     WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND status = 'failed'
       AND (%(code)s::text IS NULL OR error_code = %(code)s::text) AND category <> ALL(%(dropped)s::text[])
       AND job <> ''
    RETURNING id
), counted AS (
    SELECT count(*)::int AS many FROM again
)
UPDATE run
   SET failed_items = failed_items - counted.many
  FROM counted
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid AND counted.many > 0
RETURNING counted.many;

-- name: give_up_again
WITH given_up AS (
    UPDATE run_item
       SET status = 'failed', updated_at = clock_timestamp()
     WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND status = 'pending'
       AND (%(categories)s::text[] IS NULL OR category = ANY(%(categories)s::text[]))
    RETURNING id
)
UPDATE run
   SET failed_items = failed_items + (SELECT count(*) FROM given_up)
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: to_begin_again
SELECT i.id, i.category, i.item_type, j.payload
  FROM run_item i
  JOIN job j ON j.organisation = %(organisation)s::uuid AND j.id = i.job
 WHERE i.organisation = %(organisation)s::uuid AND i.run = %(run)s::uuid AND i.status = 'pending'
 ORDER BY i.id
 LIMIT %(limit)s::int;

-- name: begin_again
UPDATE run_item AS i
   SET status = 'processing', reserved_micros = g.reserved, job = g.job, error_code = NULL, error_message = NULL,
       updated_at = clock_timestamp()
  FROM unnest(%(ids)s::uuid[], %(reserves)s::bigint[], %(jobs)s::text[]) AS g (id, reserved, job)
 WHERE i.organisation = %(organisation)s::uuid AND i.id = g.id AND i.status = 'pending';

-- name: reserve
-- Nothing when the cap does not bear it.
UPDATE run
   SET reserved_micros = reserved_micros + %(micros)s::bigint
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid
   AND spent_micros + reserved_micros + %(micros)s::bigint <= budget_cap_micros
RETURNING spent_micros + reserved_micros, budget_cap_micros;

-- name: settle
-- What was reserved is free again but for what was spent. What calls cost beyond it is spent all the same.
UPDATE run
   SET reserved_micros = reserved_micros - %(reserved)s::bigint, spent_micros = spent_micros + %(spent)s::bigint,
       overrun_micros = overrun_micros + %(overrun)s::bigint
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: open_listings
SELECT coalesce(sum(reserved_micros), 0)::bigint
  FROM run_ledger
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND purpose = 'listing';

-- name: enter
INSERT INTO run_ledger (organisation, run, item, kind, purpose, reserved_micros, spent_micros)
SELECT %(organisation)s::uuid, %(run)s::uuid, g.item, g.kind, g.purpose, g.reserved, g.spent
  FROM unnest(%(ids)s::uuid[], %(kinds)s::text[], %(purposes)s::text[], %(reserves)s::bigint[], %(spents)s::bigint[])
       WITH ORDINALITY AS g (item, kind, purpose, reserved, spent, turn)
 ORDER BY g.turn;

-- name: note_place
UPDATE run
   SET place = %(place)s::text::jsonb, total_items = %(total)s::bigint
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: finished
-- Items whose jobs are over. Results are read by whoever needs them.
SELECT i.id, i.category, i.item_type, i.external_id, i.reserved_micros, i.job, t.id AS task, j.status AS job_status,
       t.cost_micros, t.last_error AS error, t.result_count AS documents
  FROM run_item i
 CROSS JOIN LATERAL (
         SELECT status
           FROM job
          WHERE organisation = %(organisation)s::uuid AND id = i.job AND ended_at IS NOT NULL
         OFFSET 0) AS j
 CROSS JOIN LATERAL (
         SELECT id, cost_micros, last_error, result_count
           FROM task
          WHERE organisation = %(organisation)s::uuid AND job = i.job
          LIMIT 1) AS t
 WHERE i.organisation = %(organisation)s::uuid AND i.run = %(run)s::uuid AND i.status = 'processing'
 ORDER BY i.id
 LIMIT %(limit)s::int;

-- name: end_items
-- One that was tried before has cost something before.
UPDATE run_item AS i
   SET status = g.status, error_code = g.code, error_message = g.message, cost_micros = i.cost_micros + g.cost, data = g.data::jsonb,
       reserved_micros = 0, updated_at = clock_timestamp()
  FROM unnest(%(ids)s::uuid[], %(statuses)s::text[], %(codes)s::text[], %(error_messages)s::text[], %(costs)s::bigint[],
              %(datas)s::text[]) AS g (id, status, code, message, cost, data)
 WHERE i.organisation = %(organisation)s::uuid AND i.id = g.id AND i.status = 'processing';

-- name: checkpoint
UPDATE run
   SET processed_items = processed_items + %(processed_now)s::bigint, failed_items = failed_items + %(failed_now)s::bigint,
       skipped_items = skipped_items + %(skipped_now)s::bigint, recent_items = %(recent)s::int,
       recent_failed = %(recent_failed)s::int, checkpoint_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid;

-- name: warn
UPDATE run
   SET warned_cap_micros = budget_cap_micros,
       warnings = warnings || jsonb_build_array(%(warning)s::text::jsonb || jsonb_build_object('at', clock_timestamp()))
 WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid
   AND warned_cap_micros IS DISTINCT FROM budget_cap_micros
RETURNING id;

-- name: put_off
-- From this commit on the deadlines of what was begun stand still. Unless some of it is to try a provider, nothing begins any
-- more: neither what waits in the broker, nor what workers have in hand should it come back. In one order, as everybody holds
-- tasks.
WITH live AS (
    SELECT t.id
      FROM run_item i
      JOIN task t ON t.organisation = %(organisation)s::uuid AND t.job = i.job
     WHERE i.organisation = %(organisation)s::uuid AND i.run = %(run)s::uuid AND i.status = 'processing' AND t.ended_at IS NULL
     ORDER BY t.id
       FOR UPDATE OF t
)
UPDATE task AS t
   SET paused_at = coalesce(t.paused_at, clock_timestamp()),
       not_before = CASE WHEN %(tries_on)s::boolean THEN t.not_before ELSE '9999-01-01T00:00:00Z' END
  FROM live
 WHERE t.organisation = %(organisation)s::uuid AND t.id = live.id;

-- name: take_up
-- What was left of their time when it was put off is left from now on.
WITH put_off AS (
    SELECT t.id
      FROM run_item i
      JOIN task t ON t.organisation = %(organisation)s::uuid AND t.job = i.job
     WHERE i.organisation = %(organisation)s::uuid AND i.run = %(run)s::uuid AND i.status = 'processing' AND t.ended_at IS NULL
       AND (t.paused_at IS NOT NULL OR t.not_before = '9999-01-01T00:00:00Z')
     ORDER BY t.id
       FOR UPDATE OF t
), moved AS (
    UPDATE task AS t
       SET not_before = CASE WHEN t.not_before = '9999-01-01T00:00:00Z' THEN clock_timestamp() ELSE t.not_before END,
           deadline_at = t.deadline_at + coalesce(clock_timestamp() - t.paused_at, interval '0'), paused_at = NULL
      FROM put_off
     WHERE t.organisation = %(organisation)s::uuid AND t.id = put_off.id
    RETURNING t.job, t.deadline_at
)
UPDATE job AS j
   SET deadline_at = greatest(j.deadline_at, moved.deadline_at)
  FROM moved
 WHERE j.organisation = %(organisation)s::uuid AND j.id = moved.job;

-- name: put_off_jobs
-- What no worker has begun, of some categories or of all.
SELECT i.job
  FROM run_item i
  JOIN task t ON t.organisation = %(organisation)s::uuid AND t.job = i.job
 WHERE i.organisation = %(organisation)s::uuid AND i.run = %(run)s::uuid AND i.status = 'processing'
   AND t.status = 'pending'
   AND (%(categories)s::text[] IS NULL OR i.category = ANY(%(categories)s::text[]));

-- name: tell
-- Numbered without a gap: whoever tells of a run holds its row.
WITH numbered AS (
    UPDATE run
       SET last_seq = last_seq + cardinality(%(kinds)s::text[])
     WHERE organisation = %(organisation)s::uuid AND id = %(run)s::uuid
    RETURNING last_seq - cardinality(%(kinds)s::text[]) AS before
)
INSERT INTO run_event (organisation, run, seq, type, data)
SELECT %(organisation)s::uuid, %(run)s::uuid, n.before + g.turn, g.type, g.data::jsonb
  FROM numbered n, unnest(%(kinds)s::text[], %(datas)s::text[]) WITH ORDINALITY AS g (type, data, turn);

-- name: call_watchers
SELECT pg_notify('leasehold_run', %(organisation)s::uuid::text || ' ' || %(run)s::uuid::text);

-- name: events
SELECT run, seq, type, at, data
  FROM run_event
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND seq > %(since)s::bigint
   AND type <> ALL(%(without)s::text[])
 ORDER BY seq
 LIMIT %(limit)s::int;

-- name: news
-- Of several runs at once, each from where its reader has come to.
SELECT e.run, e.seq, e.type, e.at, e.data
  FROM unnest(%(runs)s::uuid[], %(numbers)s::bigint[]) AS g (run, since)
 CROSS JOIN LATERAL (
         SELECT run, seq, type, at, data
           FROM run_event
          WHERE organisation = %(organisation)s::uuid AND run = g.run AND seq > g.since
          ORDER BY seq
          LIMIT %(limit)s::int) AS e
 ORDER BY e.run, e.seq
 LIMIT %(limit)s::int;

-- name: live_ones
SELECT id
  FROM run
 WHERE organisation = %(organisation)s::uuid
   AND (status IN ('pending', 'running', 'paused') OR sub_status IS NOT NULL OR id = ANY(%(runs)s::uuid[]))
 ORDER BY created_at DESC, id DESC
 LIMIT %(limit)s::int;

-- name: items
SELECT id, run AS run_id, category, item_type, external_id, status, data, error_code, error_message, cost_micros, nullif(job, '') AS job_id,
       updated_at
  FROM run_item
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid
   AND (%(status)s::text IS NULL OR status = %(status)s::text)
   AND (%(category)s::text IS NULL OR category = %(category)s::text)
   AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
 ORDER BY id
 LIMIT %(limit)s::int;

-- name: items_newest_first
SELECT id, run AS run_id, category, item_type, external_id, status, data, error_code, error_message, cost_micros, nullif(job, '') AS job_id,
       updated_at
  FROM run_item
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid
   AND (%(status)s::text IS NULL OR status = %(status)s::text)
   AND (%(category)s::text IS NULL OR category = %(category)s::text)
   AND (%(after)s::uuid IS NULL OR id < %(after)s::uuid)
 ORDER BY id DESC
 LIMIT %(limit)s::int;

-- name: lately
-- Those that were not over before the last so many hours, newest first.
SELECT id
  FROM run
 WHERE organisation = %(organisation)s::uuid
   AND (completed_at IS NULL OR completed_at >= statement_timestamp() - %(hours)s::float8 * interval '1 hour')
 ORDER BY created_at DESC, id DESC
 LIMIT %(limit)s::int;

-- name: moves
-- What changed the state of runs, in its order.
SELECT run, type, at, data ->> 'pause_reason'
  FROM run_event
 WHERE organisation = %(organisation)s::uuid AND run = ANY(%(runs)s::uuid[])
   AND type IN ('created', 'wanted', 'started', 'paused', 'resumed', 'completed', 'failed', 'cancelled')
 ORDER BY run, seq;

-- name: window
SELECT statement_timestamp() - %(hours)s::float8 * interval '1 hour', clock_timestamp();

-- name: ledger
SELECT number, item, kind, purpose, reserved_micros, spent_micros, at
  FROM run_ledger
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND number > %(after)s::bigint
 ORDER BY number
 LIMIT %(limit)s::int;

-- name: failures
SELECT error_code, count(*)::int, min(updated_at), max(updated_at), (array_agg(error_message ORDER BY updated_at DESC))[1]
  FROM run_item
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND status = 'failed'
 GROUP BY error_code
 ORDER BY count(*) DESC
 LIMIT 100;

-- name: per_category
SELECT category, count(*) FILTER (WHERE status = 'completed')::int, count(*) FILTER (WHERE status = 'failed')::int,
       count(*) FILTER (WHERE status = 'skipped')::int, count(*) FILTER (WHERE status = 'processing')::int,
       coalesce(sum(cost_micros), 0)::bigint
  FROM run_item
 WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid
 GROUP BY category;

-- name: spending
-- What was spent by when, in at most so many steps.
SELECT max(at), max(total)::bigint
  FROM (SELECT at, sum(spent_micros) OVER (ORDER BY number) AS total,
               ntile(%(steps)s::int) OVER (ORDER BY number) AS step
          FROM run_ledger
         WHERE organisation = %(organisation)s::uuid AND run = %(run)s::uuid AND kind = 'settle') AS settled
 GROUP BY step
 ORDER BY step;

-- name: counts
SELECT status, count(*)::int
  FROM run
 WHERE organisation = %(organisation)s::uuid
 GROUP BY status;

-- name: spent_days
-- Every day has a row, the oldest first. A run that lived on one day spent all of it then; of the others only the ledger
-- knows.
WITH frame AS (
       SELECT date_trunc('day', clock_timestamp(), 'UTC') - (%(days)s::int - 1) * interval '24 hours' AS since),
     paid AS (
       SELECT r.id AS run, (r.started_at AT TIME ZONE 'UTC')::date AS day, r.spent_micros AS micros
         FROM run r, frame
        WHERE r.organisation = %(organisation)s::uuid AND r.started_at >= frame.since
          AND (r.completed_at AT TIME ZONE 'UTC')::date = (r.started_at AT TIME ZONE 'UTC')::date
        UNION ALL
       SELECT l.run, (l.at AT TIME ZONE 'UTC')::date, l.spent_micros
         FROM run r
        CROSS JOIN frame
         JOIN run_ledger l ON l.organisation = %(organisation)s::uuid AND l.run = r.id AND l.at >= frame.since
        WHERE r.organisation = %(organisation)s::uuid AND r.started_at IS NOT NULL
          AND (r.completed_at IS NULL
               OR (r.completed_at >= frame.since
                   AND (r.completed_at AT TIME ZONE 'UTC')::date <> (r.started_at AT TIME ZONE 'UTC')::date)))
SELECT ((frame.since AT TIME ZONE 'UTC')::date + step.number) AS day,
       coalesce(sum(paid.micros), 0)::bigint AS spent_micros,
       count(DISTINCT paid.run) FILTER (WHERE paid.micros > 0)::int AS runs
  FROM frame
 CROSS JOIN generate_series(0, %(days)s::int - 1) AS step (number)
  LEFT JOIN paid ON paid.day = (frame.since AT TIME ZONE 'UTC')::date + step.number
 GROUP BY frame.since, step.number
 ORDER BY step.number;

-- name: books
-- Runs whose columns and ledger do not agree; there must be none.
SELECT r.id
  FROM run r
  LEFT JOIN LATERAL (
         SELECT coalesce(sum(reserved_micros), 0) AS reserved, coalesce(sum(spent_micros), 0) AS spent
           FROM run_ledger
          WHERE organisation = %(organisation)s::uuid AND run = r.id) AS l ON true
  LEFT JOIN LATERAL (
         SELECT count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed,
                count(*) FILTER (WHERE status = 'skipped') AS skipped
           FROM run_item
          WHERE organisation = %(organisation)s::uuid AND run = r.id) AS i ON true
 WHERE r.organisation = %(organisation)s::uuid
   AND (r.reserved_micros, r.spent_micros, r.processed_items, r.failed_items, r.skipped_items)
       IS DISTINCT FROM (l.reserved::bigint, l.spent::bigint, i.completed, i.failed, i.skipped);

-- name: products
-- The first of each: one that was collected again is found where it was.
SELECT i.id, i.external_id, coalesce(i.data ->> 'title', i.external_id)
  FROM run_item i
  JOIN run r ON r.organisation = %(organisation)s::uuid AND r.id = i.run AND r.collector = %(collector)s::text
 WHERE i.organisation = %(organisation)s::uuid AND i.category = %(category)s::text AND i.status = 'completed'
   AND (%(after)s::uuid IS NULL OR i.id > %(after)s::uuid)
   AND NOT EXISTS (
         SELECT
           FROM run_item o
           JOIN run p ON p.organisation = %(organisation)s::uuid AND p.id = o.run AND p.collector = %(collector)s::text
          WHERE o.organisation = %(organisation)s::uuid AND o.category = i.category AND o.external_id = i.external_id
            AND o.status = 'completed' AND o.id < i.id)
 ORDER BY i.id
 LIMIT %(limit)s::int;

-- name: at_work
-- Over all organisations: those whose runs have items in hand.
SELECT DISTINCT organisation
  FROM run
 WHERE status IN ('running', 'paused') OR sub_status IS NOT NULL;
