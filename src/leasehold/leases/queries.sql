-- name: renew
-- The lease and its time are in the WHERE: a lease that ended can change nothing. Never shortened, never beyond its
-- greatest age. Locked in the order of ids, so that two batches never wait for each other in a circle.
WITH given AS (
    SELECT * FROM unnest(%(leases)s::uuid[], %(ttls)s::int[]) AS g (id, ttl)
), locked AS (
    SELECT l.id
      FROM lease l
     WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[]) AND NOT l.moved
       AND l.expires_at > clock_timestamp()
     ORDER BY l.id
       FOR UPDATE
)
UPDATE lease l
   SET expires_at = greatest(l.expires_at, least(
           clock_timestamp() + coalesce(g.ttl, l.ttl_seconds) * interval '1 second',
           l.acquired_at + %(max_age)s::int * interval '1 second'))
  FROM given g
  JOIN locked USING (id)
 WHERE l.organisation = %(organisation)s::uuid AND l.id = g.id AND l.expires_at > clock_timestamp()
RETURNING l.id, l.kind, l.resource, l.site, l.owner, l.job_id, l.fence, l.acquired_at, l.expires_at;

-- name: grant
-- That one resource is not held twice is the index's word, whatever else went wrong.
INSERT INTO lease (id, organisation, kind, resource, site, owner, token, job_id, fence, ttl_seconds, acquired_at,
                   expires_at)
SELECT g.id, %(organisation)s::uuid, %(kind)s::text, g.resource, g.site, g.owner, g.token, g.job_id, g.fence, g.ttl,
       clock.now, clock.now + g.ttl * interval '1 second'
  FROM unnest(%(leases)s::uuid[], %(held)s::uuid[], %(sites)s::text[], %(fences)s::bigint[], %(owners)s::text[],
              %(tokens)s::uuid[], %(jobs)s::text[], %(ttls)s::int[])
    AS g (id, resource, site, fence, owner, token, job_id, ttl)
 CROSS JOIN (SELECT clock_timestamp() AS now OFFSET 0) clock
RETURNING id, kind, resource, site, owner, job_id, fence, acquired_at, expires_at;

-- name: end
-- Ends leases and books how, in one statement. The lease and its time are in the WHERE: a release and a revocation need
-- a live lease, an expiry one that ran out. Locked in the order of ids, as everywhere.
WITH locked AS (
    SELECT l.id
      FROM lease l
     WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[]) AND l.kind = %(kind)s::text
     ORDER BY l.id
       FOR UPDATE
), ended AS (
    DELETE FROM lease l
     USING locked
     WHERE l.organisation = %(organisation)s::uuid AND l.id = locked.id
       AND CASE %(how)s::text WHEN 'expired' THEN l.expires_at <= clock_timestamp()
                              ELSE l.expires_at > clock_timestamp() END
    RETURNING l.*, CASE %(how)s::text WHEN 'expired' THEN l.expires_at ELSE clock_timestamp() END AS ended_at
)
INSERT INTO lease_end (id, organisation, kind, resource, site, owner, token, job_id, fence, acquired_at, expires_at,
                       ended_at, how, outcome, reason)
SELECT e.id, e.organisation, e.kind, e.resource, e.site, e.owner, e.token, e.job_id, e.fence, e.acquired_at,
       e.expires_at, e.ended_at, %(how)s::text, %(outcome)s::text, %(reason)s::text
  FROM ended e
RETURNING id, kind, resource, site, owner, job_id, fence, acquired_at, ended_at, how, outcome, reason;

-- name: hold
-- Kept from others until we are done, in one order for what is ended and what is renewed: two batches that cross never
-- wait for each other in a circle.
SELECT id
  FROM lease
 WHERE organisation = %(organisation)s::uuid AND NOT moved
   AND (id = ANY(%(ending)s::uuid[]) OR (id = ANY(%(renewing)s::uuid[]) AND expires_at > clock_timestamp()))
 ORDER BY id
   FOR UPDATE;

-- name: renew_owner
WITH locked AS (
    SELECT l.id
      FROM lease l
     WHERE l.organisation = %(organisation)s::uuid AND l.owner = %(owner)s::text AND l.token = %(token)s::uuid
       AND l.kind = %(kind)s::text AND NOT l.moved AND l.expires_at > clock_timestamp()
     ORDER BY l.id
       FOR UPDATE
)
UPDATE lease l
   SET expires_at = greatest(l.expires_at, least(
           clock_timestamp() + coalesce(%(ttl)s::int, l.ttl_seconds) * interval '1 second',
           l.acquired_at + %(max_age)s::int * interval '1 second'))
  FROM locked
 WHERE l.organisation = %(organisation)s::uuid AND l.id = locked.id AND l.expires_at > clock_timestamp()
RETURNING l.id;

-- name: lost
-- What this token held under that owner and lost within the last hour.
SELECT e.id
  FROM lease_end e
 WHERE e.organisation = %(organisation)s::uuid AND e.owner = %(owner)s::text AND e.token = %(token)s::uuid
   AND e.kind = %(kind)s::text AND e.how <> 'released' AND e.ended_at > clock_timestamp() - interval '1 hour'
 LIMIT 1000;

-- name: overdue
-- What this token holds under that owner, seems to have run out, and was not booked as such.
SELECT l.id
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.owner = %(owner)s::text AND l.token = %(token)s::uuid
   AND l.kind = %(kind)s::text AND l.expires_at <= clock_timestamp() AND NOT l.moved
 LIMIT 1000;

-- name: live
-- Who holds what now.
SELECT id, kind, resource, site, owner, job_id, fence, acquired_at, expires_at
  FROM lease
 WHERE organisation = %(organisation)s::uuid AND expires_at > clock_timestamp() AND NOT moved
   AND (%(kind)s::text IS NULL OR kind = %(kind)s::text)
   AND (%(site)s::text IS NULL OR site = %(site)s::text)
   AND (%(owner)s::text IS NULL OR owner = %(owner)s::text)
   AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
 ORDER BY id
 LIMIT %(limit)s::int;

-- name: taken_for
-- What is held of a kind for these jobs.
SELECT id
  FROM lease
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND job_id = ANY(%(jobs)s::text[])
   AND job_id IS NOT NULL AND expires_at > clock_timestamp() AND NOT moved
 ORDER BY id;

-- name: find
SELECT id, kind, resource, site, owner, job_id, fence, acquired_at, expires_at
  FROM lease
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(leases)s::uuid[]) AND NOT moved;

-- name: past
-- How these ended.
SELECT id, kind, resource, site, owner, job_id, fence, acquired_at, ended_at, how, outcome, reason
  FROM lease_end
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(leases)s::uuid[]);

-- name: history
-- The leases of one resource that are over, newest first.
SELECT id, kind, resource, site, owner, job_id, fence, acquired_at, ended_at, how, outcome, reason
  FROM lease_end
 WHERE organisation = %(organisation)s::uuid AND resource = %(held)s::uuid
   AND (%(before)s::bigint IS NULL OR fence < %(before)s::bigint)
 ORDER BY fence DESC
 LIMIT %(limit)s::int;

-- name: queue
-- Who waits at these sites, in whichever process that is alive, in their turn; without those who ask right now.
SELECT site, priority, wanted, labels, account, since
  FROM waiter
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND site = ANY(%(sites)s::text[])
   AND id <> ALL(%(asking)s::uuid[]) AND refreshed_at > clock_timestamp() - interval '5 seconds'
 ORDER BY priority DESC, since
 LIMIT 1000;

-- name: whole_queue
-- The same at all sites: who takes something of any site is in everybody's way.
SELECT site, priority, wanted, labels, account, since
  FROM waiter
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND id <> ALL(%(asking)s::uuid[])
   AND refreshed_at > clock_timestamp() - interval '5 seconds'
 ORDER BY priority DESC, since
 LIMIT 1000;

-- name: enqueue
INSERT INTO waiter (id, organisation, process, kind, site, priority, wanted, labels, account)
SELECT g.id, %(organisation)s::uuid, %(process)s::uuid, %(kind)s::text, g.site, g.priority, g.wanted, g.labels::jsonb,
       g.account
  FROM unnest(%(ids)s::uuid[], %(sites)s::text[], %(priorities)s::int[], %(wanted)s::int[], %(labels)s::text[],
              %(accounts)s::uuid[]) AS g (id, site, priority, wanted, labels, account)
RETURNING id, since;

-- name: leave
DELETE FROM waiter
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(ids)s::uuid[]);

-- name: nudge
-- Wakes the other processes in which somebody waits at one of these sites. Asked after the change was committed: who
-- came to wait later than that has seen it.
SELECT pg_notify('leasehold_wake', %(organisation)s::uuid || ' ' || site
                                   || CASE %(kind)s::text WHEN 'account' THEN '' ELSE ' ' || %(kind)s::text END)
  FROM waiter
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND site = ANY(%(sites)s::text[])
   AND process <> %(process)s::uuid AND refreshed_at > clock_timestamp() - interval '5 seconds'
 GROUP BY site;

-- name: refresh
-- Across organisations: this process still waits for all of its own. Those that are just leaving are stepped over.
UPDATE waiter
   SET refreshed_at = clock_timestamp()
 WHERE id IN (SELECT id FROM waiter WHERE process = %(process)s::uuid FOR UPDATE SKIP LOCKED);

-- name: bury
-- Across organisations: waiters of processes that died.
DELETE FROM waiter
 WHERE refreshed_at < clock_timestamp() - interval '1 minute';

-- name: forsake
-- Across organisations: this process stops; nobody waits in it any more.
DELETE FROM waiter
 WHERE process = %(process)s::uuid;

-- name: clock
-- What the clock shows, and the last jump of a store's clock that was seen to. One that is seen to after this look has a
-- higher number, whatever clocks did.
SELECT coalesce(max(id), 0), clock_timestamp()
  FROM clock_jump
 WHERE store = %(store)s::text;

-- name: jump_turn
-- Across organisations: one server after the other sees to a jump.
SELECT pg_advisory_xact_lock(hashtextextended('leasehold clock ' || %(store)s::text, 0));

-- name: is_seen_to
-- Across organisations: whether somebody has seen to the jump that came after a look. It was noticed later than that look,
-- by the clock as it goes since.
SELECT EXISTS (
    SELECT FROM clock_jump
     WHERE store = %(store)s::text AND id > %(known)s::bigint AND noticed_at > %(since)s::timestamptz);

-- name: note_jump
-- Across organisations.
INSERT INTO clock_jump (store, noticed_at, seconds, leases)
VALUES (%(store)s::text, %(noticed_at)s::timestamptz, %(seconds)s::float8, %(leases)s::int)
RETURNING id;

-- name: keep
-- Across organisations: what lived before a jump of the clock lives on for a fresh term, and for what it had left. The
-- greatest age does not count here: by a clock that jumped, everything is old. Locked in the order of ids, as everywhere.
WITH locked AS (
    SELECT id
      FROM lease
     WHERE expires_at > %(unjumped)s::timestamptz AND NOT moved
     ORDER BY id
       FOR UPDATE
)
UPDATE lease l
   SET expires_at = greatest(
           l.expires_at,
           clock_timestamp() + l.ttl_seconds * interval '1 second',
           least(l.expires_at + %(seconds)s::float8 * interval '1 second',
                 clock_timestamp() + %(longest)s::int * interval '1 second'))
  FROM locked
 WHERE l.id = locked.id;

-- name: overlaps
-- Leases of a kind that began before the one before them on the same thing had ended.
SELECT count(*)
  FROM (SELECT acquired_at < lag(ended_at) OVER (PARTITION BY resource ORDER BY fence) AS is_early
          FROM (SELECT resource, fence, acquired_at, ended_at
                  FROM lease_end
                 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text
                UNION ALL
                SELECT resource, fence, acquired_at, expires_at
                  FROM lease
                 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND NOT moved) every
       ) neighbours
 WHERE is_early;
