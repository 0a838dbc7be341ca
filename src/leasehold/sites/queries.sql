-- name: raise_version
-- Also the lock under which addresses change; taken first by everything that changes one.
INSERT INTO registry_version (organisation, version)
VALUES (%(organisation)s::uuid, 1)
ON CONFLICT (organisation) DO UPDATE SET version = registry_version.version + 1;

-- name: version
SELECT version FROM registry_version WHERE organisation = %(organisation)s::uuid;

-- name: registry
-- Every address that names something, oldest claim first.
SELECT site, host, scheme, port, prefix, subdomains, fold, extract(epoch FROM since)::float8 AS since, trust
  FROM mount
 WHERE organisation = %(organisation)s::uuid AND trust <> 'observed'
 ORDER BY since;

-- name: create
INSERT INTO site (organisation, slug, name, max_concurrent_accounts, cooldown_seconds, reclaim_delay_seconds,
                  quarantine_after_unclean, probation_after_seconds, breaker_percent, breaker_min_accounts,
                  breaker_window_seconds, seed_concurrency, min_interval_ms, auth_markers)
VALUES (%(organisation)s::uuid, %(slug)s::text, %(name)s::text, %(max_concurrent_accounts)s::int,
        %(cooldown_seconds)s::int, %(reclaim_delay_seconds)s::int, %(quarantine_after_unclean)s::int,
        %(probation_after_seconds)s::int, %(breaker_percent)s::int, %(breaker_min_accounts)s::int,
        %(breaker_window_seconds)s::int, %(seed_concurrency)s::int, %(min_interval_ms)s::int, %(auth_markers)s::text[]);

-- name: page
SELECT slug, name, epoch, paused_at, pause_reason, created_at, updated_at,
       max_concurrent_accounts, cooldown_seconds, reclaim_delay_seconds, quarantine_after_unclean,
       probation_after_seconds, breaker_percent, breaker_min_accounts, breaker_window_seconds, seed_concurrency,
       min_interval_ms, auth_markers
  FROM site
 WHERE organisation = %(organisation)s::uuid
   AND (%(slug)s::text IS NULL OR slug = %(slug)s::text)
   AND (%(after)s::text IS NULL OR slug > %(after)s::text)
 ORDER BY slug
 LIMIT %(limit)s::int;

-- name: mounts
SELECT site, host, scheme, port, prefix, subdomains, fold, since, trust, current
  FROM mount
 WHERE organisation = %(organisation)s::uuid AND site = ANY(%(slugs)s::text[])
 ORDER BY since;

-- name: lock
SELECT FROM site
 WHERE organisation = %(organisation)s::uuid AND slug = %(slug)s::text
   FOR UPDATE;

-- name: change
UPDATE site
   SET name = %(name)s::text, max_concurrent_accounts = %(max_concurrent_accounts)s::int,
       cooldown_seconds = %(cooldown_seconds)s::int, reclaim_delay_seconds = %(reclaim_delay_seconds)s::int,
       quarantine_after_unclean = %(quarantine_after_unclean)s::int,
       probation_after_seconds = %(probation_after_seconds)s::int, breaker_percent = %(breaker_percent)s::int,
       breaker_min_accounts = %(breaker_min_accounts)s::int,
       breaker_window_seconds = %(breaker_window_seconds)s::int, seed_concurrency = %(seed_concurrency)s::int,
       min_interval_ms = %(min_interval_ms)s::int, auth_markers = %(auth_markers)s::text[],
       updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND slug = %(slug)s::text;

-- name: delete
DELETE FROM site
 WHERE organisation = %(organisation)s::uuid AND slug = %(slug)s::text;

-- name: pause
-- A pause that is there already keeps its time; the newest reason stands.
UPDATE site
   SET paused_at = coalesce(paused_at, clock_timestamp()), pause_reason = %(reason)s::text,
       updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND slug = %(slug)s::text;

-- name: resume
UPDATE site
   SET paused_at = NULL, pause_reason = NULL, updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND slug = %(slug)s::text;

-- name: holder
-- Which site lives at this very address now.
SELECT site
  FROM mount
 WHERE organisation = %(organisation)s::uuid AND host = %(host)s::text
   AND coalesce(port, 0) = coalesce(%(port)s::int, 0) AND prefix = %(prefix)s::text AND current;

-- name: leave
UPDATE mount
   SET current = false
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text AND current;

-- name: mount
-- Later than every earlier address of the site, also when the clock was set back: order is what history means.
INSERT INTO mount (id, organisation, site, host, scheme, port, prefix, subdomains, fold, trust, current, since)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(site)s::text, %(host)s::text, %(scheme)s::text, %(port)s::int,
        %(prefix)s::text, %(subdomains)s::text, %(fold)s::text[], %(trust)s::text, %(current)s::boolean,
        greatest(clock_timestamp(),
                 (SELECT max(since) + interval '1 microsecond'
                    FROM mount
                   WHERE organisation = %(organisation)s::uuid
                     AND (site = %(site)s::text OR host = %(host)s::text))));

-- name: raise_epoch
UPDATE site
   SET epoch = epoch + 1, updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND slug = %(slug)s::text;

-- name: record_move
INSERT INTO move (id, organisation, site, epoch, from_address, to_address, trust, actor, actor_name, reason)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(site)s::text, %(epoch)s::int, %(from_address)s::text,
        %(to_address)s::text, %(trust)s::text, %(actor)s::uuid, %(actor_name)s::text, %(reason)s::text);

-- name: moves
-- Newest first; ids sort by time.
SELECT id, epoch, at, from_address, to_address, trust, actor, actor_name, reason
  FROM move
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text
   AND (%(id)s::uuid IS NULL OR id = %(id)s::uuid)
   AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
 ORDER BY id DESC
 LIMIT %(limit)s::int;

-- name: past_fault
-- What speaks against an address in a site's past: its time has not come; or another site has it from the same moment, lives
-- there from before, or had it after this one came to live there. The latest claim counts, so either would lose its URLs.
SELECT %(since)s::timestamptz > clock_timestamp() AS is_ahead,
       (SELECT m.site
          FROM mount m
         WHERE m.organisation = %(organisation)s::uuid AND m.site <> %(site)s::text AND m.host = %(host)s::text
           AND coalesce(m.port, 0) = coalesce(%(port)s::int, 0) AND m.prefix = %(prefix)s::text
           AND m.trust <> 'observed'
           AND (m.since = %(since)s::timestamptz OR (m.current AND m.since < %(since)s::timestamptz)
                OR (%(current)s::boolean AND m.since > %(since)s::timestamptz))
         LIMIT 1) AS rival;

-- name: past_mount
INSERT INTO mount (id, organisation, site, host, scheme, port, prefix, subdomains, fold, trust, current, since)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(site)s::text, %(host)s::text, %(scheme)s::text, %(port)s::int,
        %(prefix)s::text, %(subdomains)s::text, %(fold)s::text[], %(trust)s::text, %(current)s::boolean,
        %(since)s::timestamptz);

-- name: past_move
INSERT INTO move (id, organisation, site, epoch, at, from_address, to_address, trust, actor, actor_name, reason)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(site)s::text, %(epoch)s::int, %(since)s::timestamptz,
        %(from_address)s::text, %(to_address)s::text, %(trust)s::text, %(actor)s::uuid, %(actor_name)s::text,
        'imported');
