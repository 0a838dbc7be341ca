-- name: settle
-- A row for a source that has none yet.
INSERT INTO source (organisation, name) VALUES (%(organisation)s::uuid, %(source_name)s::text)
    ON CONFLICT (organisation, name) DO NOTHING;

-- name: states
SELECT name, status, waiting_for, place, watermark, seen, pages, handed, gone, errors, expected, per_second, rate_now,
       started_at, last_sweep, last_error,
       CASE WHEN driver_until > clock_timestamp() THEN driver_until END AS driven_until
  FROM source
 WHERE organisation = %(organisation)s::uuid AND (%(source_name)s::text IS NULL OR name = %(source_name)s::text);

-- name: start
-- A sweep that was stopped goes on; without one, or when another kind is wanted, one begins.
UPDATE source
   SET status = %(dst)s::text, last_error = NULL, place = coalesce(%(new_place)s::jsonb, place),
       started_at = CASE WHEN %(new_place)s::jsonb IS NULL THEN started_at ELSE clock_timestamp() END,
       seen = CASE WHEN %(new_place)s::jsonb IS NULL THEN seen ELSE 0 END,
       pages = CASE WHEN %(new_place)s::jsonb IS NULL THEN pages ELSE 0 END,
       handed = CASE WHEN %(new_place)s::jsonb IS NULL THEN handed ELSE 0 END,
       gone = CASE WHEN %(new_place)s::jsonb IS NULL THEN gone ELSE 0 END,
       errors = CASE WHEN %(new_place)s::jsonb IS NULL THEN errors ELSE 0 END,
       measured_at = clock_timestamp(), measured_seen = CASE WHEN %(new_place)s::jsonb IS NULL THEN seen ELSE 0 END
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND status = ANY(%(src)s::text[]);

-- name: stop
-- Whoever drives it sees that with its next step, and lets go.
UPDATE source
   SET status = %(dst)s::text, waiting_for = NULL, per_second = 0
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND status = ANY(%(src)s::text[]);

-- name: live
-- Across organisations: what somebody has to drive and nobody does.
SELECT organisation, name
  FROM source
 WHERE status = 'sweeping' AND (driver IS NULL OR driver_until < clock_timestamp())
 ORDER BY organisation, name
 LIMIT %(limit)s::int;

-- name: due
-- Across organisations: what is to be swept again by now, as the files of the sources say, and whether all of it.
SELECT organisation, name, is_full
  FROM (SELECT s.organisation, s.name,
               coalesce((s.last_sweep->>'full_at')::timestamptz + d.full_every <= clock_timestamp(), false) AS is_full,
               coalesce((s.last_sweep->>'ended_at')::timestamptz + d.sweep_every <= clock_timestamp(), false) AS is_due
          FROM source s
          JOIN (SELECT name, sweep_hours * interval '1 hour' AS sweep_every, full_hours * interval '1 hour' AS full_every
                  FROM unnest(%(names)s::text[], %(sweep_hours)s::float8[], %(full_hours)s::float8[])
                       AS declared (name, sweep_hours, full_hours)) d USING (name)
         WHERE s.status = 'idle') looked
 WHERE is_full OR is_due
 ORDER BY organisation, name
 LIMIT %(limit)s::int;

-- name: claim
-- The one who drives it, from now on, unless somebody does.
UPDATE source
   SET driver = %(driver)s::uuid, driver_fence = driver_fence + 1, measured_at = clock_timestamp(), measured_seen = seen,
       driver_until = clock_timestamp() + %(lease_s)s::float8 * interval '1 second'
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND status = 'sweeping'
   AND (driver IS NULL OR driver_until < clock_timestamp())
RETURNING driver_fence;

-- name: hold
-- Nothing for who drives it no more. Whoever still does, does so for a while longer.
UPDATE source
   SET driver_until = clock_timestamp() + %(lease_s)s::float8 * interval '1 second',
       waiting_for = CASE WHEN status = 'sweeping' THEN %(waiting)s::text END,
       rate_now = %(rate)s::float8, errors = errors + %(errors_more)s::bigint
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND driver = %(driver)s::uuid
   AND driver_fence = %(fence)s::bigint AND driver_until > clock_timestamp()
RETURNING name;

-- name: let_go
UPDATE source
   SET driver = NULL, driver_until = NULL, waiting_for = NULL
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND driver = %(driver)s::uuid
   AND driver_fence = %(fence)s::bigint;

-- name: move_on
-- The place changes with what was handed over, or not at all; and only for whoever drives it. Stopped meanwhile, it is
-- still good to know how far it came.
UPDATE source
   SET place = %(new_place)s::jsonb, expected = coalesce(%(expected)s::bigint, expected),
       seen = seen + %(seen_more)s::bigint, pages = pages + %(pages_more)s::bigint,
       handed = handed + %(handed_more)s::bigint, gone = gone + %(gone_more)s::bigint,
       errors = errors + %(errors_more)s::bigint,
       per_second = CASE WHEN measured_at < clock_timestamp() - interval '2 seconds'
                         THEN (seen + %(seen_more)s::bigint - measured_seen)
                              / extract(epoch FROM clock_timestamp() - measured_at)
                         ELSE per_second END,
       measured_seen = CASE WHEN measured_at < clock_timestamp() - interval '2 seconds'
                            THEN seen + %(seen_more)s::bigint ELSE measured_seen END,
       measured_at = CASE WHEN measured_at < clock_timestamp() - interval '2 seconds'
                          THEN clock_timestamp() ELSE measured_at END
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND driver = %(driver)s::uuid
   AND driver_fence = %(fence)s::bigint AND driver_until > clock_timestamp();

-- name: finish
UPDATE source
   SET status = %(dst)s::text, place = NULL, waiting_for = NULL, per_second = 0,
       watermark = greatest(watermark, %(newest)s::timestamptz),
       last_error = %(note)s::text,
       last_sweep = %(sweep_facts)s::jsonb || jsonb_build_object('started_at', started_at, 'ended_at', clock_timestamp(),
           'seen', seen, 'pages', pages, 'handed', handed, 'gone', gone, 'errors', errors, 'expected', expected,
           'full_at', CASE WHEN %(is_full)s::boolean THEN to_jsonb(clock_timestamp()) ELSE last_sweep->'full_at' END)
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND driver = %(driver)s::uuid
   AND driver_fence = %(fence)s::bigint AND status = ANY(%(src)s::text[]);

-- name: fail
UPDATE source
   SET status = %(dst)s::text, waiting_for = NULL, per_second = 0, last_error = %(note)s::text, errors = errors + 1
 WHERE organisation = %(organisation)s::uuid AND name = %(source_name)s::text AND driver = %(driver)s::uuid
   AND driver_fence = %(fence)s::bigint AND status = ANY(%(src)s::text[]);

-- name: known
SELECT source_id, digest, state, replace(sweep::text, '-', '') AS sweep, pass AS number
  FROM source_sighting
 WHERE organisation = %(organisation)s::uuid AND source = %(source_name)s::text AND source_id = ANY(%(source_ids)s::text[]);

-- name: sight
INSERT INTO source_sighting AS s (organisation, source, source_id, digest, sweep, pass)
SELECT %(organisation)s::uuid, %(source_name)s::text, g.source_id, g.digest, %(sweep)s::uuid, %(pass)s::int
  FROM unnest(%(source_ids)s::text[], %(marks)s::bytea[]) AS g (source_id, digest)
    ON CONFLICT (organisation, source, source_id) DO UPDATE
   SET digest = EXCLUDED.digest, sweep = EXCLUDED.sweep, pass = EXCLUDED.pass, state = 'live', merged_into = NULL;

-- name: lose
-- Only what was there until now: what was told once is not told again.
UPDATE source_sighting AS s
   SET state = g.state, merged_into = g.merged_into
  FROM unnest(%(source_ids)s::text[], %(ends)s::text[], %(survivors)s::text[]) AS g (source_id, state, merged_into)
 WHERE s.organisation = %(organisation)s::uuid AND s.source = %(source_name)s::text AND s.source_id = g.source_id
   AND s.state = 'live'
RETURNING s.source_id, s.merged_into;

-- name: count_sightings
-- How many of this sweep there are, and how many of them this pass did not show.
SELECT count(*), count(*) FILTER (WHERE pass <> %(pass)s::int)
  FROM source_sighting
 WHERE organisation = %(organisation)s::uuid AND source = %(source_name)s::text AND state = 'live' AND sweep = %(sweep)s::uuid;

-- name: unseen
-- Those that are to be asked for one by one: of sweeps before, and if wanted of this one's other passes.
SELECT source_id
  FROM source_sighting
 WHERE organisation = %(organisation)s::uuid AND source = %(source_name)s::text AND state = 'live'
   AND (sweep <> %(sweep)s::uuid OR (%(own)s::boolean AND pass <> %(pass)s::int))
 ORDER BY source_id
 LIMIT %(limit)s::int;

-- name: bury
INSERT INTO source_dead_letter (id, organisation, source, source_id, reason, payload, digest)
SELECT g.id, %(organisation)s::uuid, %(source_name)s::text, g.source_id, g.reason, g.payload, g.digest
  FROM unnest(%(ids)s::uuid[], %(source_ids)s::text[], %(reasons)s::text[], %(payloads)s::text[], %(marks)s::bytea[])
       AS g (id, source_id, reason, payload, digest)
    ON CONFLICT (organisation, source, digest) DO NOTHING;

-- name: letters
SELECT id, source, source_id, reason, payload, at
  FROM source_dead_letter
 WHERE organisation = %(organisation)s::uuid AND source = %(source_name)s::text
   AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
 ORDER BY id DESC
 LIMIT %(limit)s::int;

-- name: forget_sightings
DELETE FROM source_sighting
 WHERE organisation = %(organisation)s::uuid AND source = %(source_name)s::text AND source_id = ANY(%(source_ids)s::text[]);

-- name: forget_letters
DELETE FROM source_dead_letter
 WHERE organisation = %(organisation)s::uuid AND source = %(source_name)s::text AND source_id = ANY(%(source_ids)s::text[]);
