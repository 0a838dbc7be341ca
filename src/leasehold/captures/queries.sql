-- name: site
SELECT slug FROM site WHERE organisation = %(organisation)s::uuid AND slug = %(site)s::text;

-- name: source
-- Whether a lease of any kind that PostgreSQL keeps is live; no row when it never was, or is in another store.
SELECT l.expires_at > clock_timestamp() AS is_live
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.id = %(lease)s::uuid AND NOT l.moved
 UNION ALL
SELECT false
  FROM lease_end e
 WHERE e.organisation = %(organisation)s::uuid AND e.id = %(lease)s::uuid
 LIMIT 1;

-- name: claim_blobs
-- Says that these bytes are about to be put in place: they are not swept for an hour. Waits for a sweep that is just
-- taking one of them away. In the order of digests, so that two uploads never wait for each other in a circle.
INSERT INTO blob (organisation, sha256, size)
SELECT %(organisation)s::uuid, g.sha256, g.size
  FROM unnest(%(digests)s::bytea[], %(sizes)s::bigint[]) AS g (sha256, size)
 ORDER BY g.sha256
ON CONFLICT (organisation, sha256) DO UPDATE
   SET claimed_at = clock_timestamp()
 WHERE blob.claimed_at < clock_timestamp() - interval '1 minute';

-- name: hold_blobs
-- Keeps the rows of these bytes until we are done; a sweep steps over them.
SELECT sha256
  FROM blob
 WHERE organisation = %(organisation)s::uuid AND sha256 = ANY(%(digests)s::bytea[])
 ORDER BY sha256
   FOR KEY SHARE;

-- name: use_blobs
UPDATE blob
   SET in_use = true
 WHERE organisation = %(organisation)s::uuid AND sha256 = ANY(%(digests)s::bytea[]) AND NOT in_use;

-- name: insert
INSERT INTO capture (id, organisation, site, url, sub, rest, captured_at, seed, account, job_id, source_lease, late, labels,
                     size)
VALUES (%(capture)s::uuid, %(organisation)s::uuid, %(site)s::text, %(url)s::text, %(sub)s::text, %(rest)s::text,
        coalesce(%(captured_at)s::timestamptz, clock_timestamp()), %(seed)s::uuid, %(account)s::uuid, %(job_id)s::text,
        %(source_lease)s::uuid, %(late)s::boolean, %(labels)s::jsonb, %(size)s::bigint);

-- name: insert_files
INSERT INTO capture_file (capture, organisation, place, name, sha256, size, content_type, deduplicated)
SELECT %(capture)s::uuid, %(organisation)s::uuid, g.place, g.name, g.sha256, g.size, g.content_type, g.deduplicated
  FROM unnest(%(places)s::int[], %(names)s::text[], %(digests)s::bytea[], %(sizes)s::bigint[], %(content_types)s::text[],
              %(deduplicated)s::boolean[]) AS g (place, name, sha256, size, content_type, deduplicated);

-- name: get
SELECT id, site, url, sub, rest, captured_at, received_at, seed, account, job_id, source_lease, late, labels, size,
       updated_at, state, failures, reason, holder, lease_id, expires_at
  FROM capture_now
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(captures)s::uuid[]);

-- name: page
-- Newest first.
SELECT id, site, url, sub, rest, captured_at, received_at, seed, account, job_id, source_lease, late, labels, size,
       updated_at, state, failures, reason, holder, lease_id, expires_at
  FROM capture_now
 WHERE organisation = %(organisation)s::uuid
   AND (%(site)s::text IS NULL OR site = %(site)s::text)
   AND (%(state)s::text IS NULL OR state = %(state)s::text)
   AND (%(since)s::timestamptz IS NULL OR received_at >= %(since)s::timestamptz)
   AND (%(url)s::text IS NULL OR url = %(url)s::text)
   AND (%(before_at)s::timestamptz IS NULL
        OR (received_at, id) < (%(before_at)s::timestamptz, %(before)s::uuid))
 ORDER BY received_at DESC, id DESC
 LIMIT %(limit)s::int;

-- name: of_url
-- Those of one URL, by its reference: a site that moved keeps its past.
SELECT id, site, url, sub, rest, captured_at, received_at, seed, account, job_id, source_lease, late, labels, size,
       updated_at, state, failures, reason, holder, lease_id, expires_at
  FROM capture_now
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text
   AND hashtextextended(rest, 0) = hashtextextended(%(rest)s::text, 0)
   AND rest = %(rest)s::text AND sub = %(sub)s::text
   AND (%(state)s::text IS NULL OR state = %(state)s::text)
   AND (%(since)s::timestamptz IS NULL OR received_at >= %(since)s::timestamptz)
   AND (%(before_at)s::timestamptz IS NULL
        OR (received_at, id) < (%(before_at)s::timestamptz, %(before)s::uuid))
 ORDER BY received_at DESC, id DESC
 LIMIT %(limit)s::int;

-- name: files
-- Also those of imported records, whose bytes are not here.
SELECT capture, name, sha256, size, content_type, deduplicated, false AS external, NULL::text AS location, place
  FROM capture_file
 WHERE organisation = %(organisation)s::uuid AND capture = ANY(%(captures)s::uuid[])
 UNION ALL
SELECT capture, name, sha256, size, content_type, false, true, location, place
  FROM external_file
 WHERE organisation = %(organisation)s::uuid AND capture = ANY(%(captures)s::uuid[])
 ORDER BY capture, place;

-- name: insert_records
-- Captures of an older system: nobody hands them on any more, and their bytes stayed there.
INSERT INTO capture (id, organisation, site, url, sub, rest, captured_at, received_at, job_id, late, labels, size, standing,
                     reason)
SELECT g.id, %(organisation)s::uuid, g.site, g.url, g.sub, g.rest, g.captured_at, g.received_at, g.job_id, false,
       g.labels::jsonb, g.size, g.standing, g.reason
  FROM unnest(%(captures)s::uuid[], %(sites)s::text[], %(urls)s::text[], %(subs)s::text[], %(rests)s::text[],
              %(captured_ats)s::timestamptz[], %(received_ats)s::timestamptz[], %(job_ids)s::text[],
              %(labels)s::text[], %(sizes)s::bigint[], %(states)s::text[], %(reasons)s::text[])
    AS g (id, site, url, sub, rest, captured_at, received_at, job_id, labels, size, standing, reason);

-- name: insert_external_files
INSERT INTO external_file (capture, organisation, place, name, sha256, size, content_type, location)
SELECT g.capture, %(organisation)s::uuid, g.place, g.name, g.sha256, g.size, g.content_type, g.location
  FROM unnest(%(captures)s::uuid[], %(places)s::int[], %(names)s::text[], %(digests)s::bytea[], %(sizes)s::bigint[],
              %(content_types)s::text[], %(locations)s::text[])
    AS g (capture, place, name, sha256, size, content_type, location);

-- name: count
SELECT count(*) FROM capture WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text;

-- name: lock
-- Also from those who claim it.
SELECT id FROM capture WHERE organisation = %(organisation)s::uuid AND id = %(capture)s::uuid FOR UPDATE;

-- name: requeue
UPDATE capture
   SET standing = 'received', failures = 0, reason = NULL, updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND id = %(capture)s::uuid;

-- name: delete
DELETE FROM capture WHERE organisation = %(organisation)s::uuid AND id = %(capture)s::uuid;

-- name: lock_blobs
-- Of one capture, from those who sweep, claim or use them.
SELECT b.sha256
  FROM blob b
 WHERE b.organisation = %(organisation)s::uuid
   AND b.sha256 IN (SELECT f.sha256 FROM capture_file f
                     WHERE f.organisation = %(organisation)s::uuid AND f.capture = %(capture)s::uuid)
 ORDER BY b.sha256
   FOR UPDATE;

-- name: free_blobs
-- Those that no capture has any more are swept in an hour: somebody may be about to use them again.
UPDATE blob b
   SET in_use = false, claimed_at = clock_timestamp()
 WHERE b.organisation = %(organisation)s::uuid AND b.sha256 = ANY(%(digests)s::bytea[])
   AND NOT EXISTS (SELECT FROM capture_file f WHERE f.organisation = b.organisation AND f.sha256 = b.sha256);

-- name: unused
-- Bytes that no capture has, and that nobody has claimed within the hour. Their rows are gone when this commits, which it
-- does when the bytes are.
DELETE FROM blob b
 WHERE b.organisation = %(organisation)s::uuid
   AND b.sha256 IN (
         SELECT u.sha256
           FROM blob u
          WHERE u.organisation = %(organisation)s::uuid AND NOT u.in_use
            AND u.claimed_at < clock_timestamp() - %(grace)s::int * interval '1 second'
            AND NOT EXISTS (SELECT FROM capture_file f WHERE f.organisation = u.organisation AND f.sha256 = u.sha256)
          ORDER BY u.sha256
          LIMIT %(limit)s::int
            FOR UPDATE SKIP LOCKED)
RETURNING b.sha256;

-- name: stray
-- A row comes back when nobody knows these bytes. It keeps whoever brings them waiting until we are done with them.
INSERT INTO blob (organisation, sha256, size)
VALUES (%(organisation)s::uuid, %(digest)s::bytea, 0)
ON CONFLICT (organisation, sha256) DO NOTHING
RETURNING sha256;

-- name: strayed
DELETE FROM blob WHERE organisation = %(organisation)s::uuid AND sha256 = %(digest)s::bytea;

-- name: known
-- Which of these bytes there is a row for.
SELECT sha256
  FROM blob
 WHERE organisation = %(organisation)s::uuid AND sha256 = ANY(%(digests)s::bytea[]);

-- name: blobs
-- What captures have, in the order of digests.
SELECT sha256, size
  FROM blob
 WHERE organisation = %(organisation)s::uuid AND in_use AND sha256 > %(after_digest)s::bytea
 ORDER BY sha256
 LIMIT %(limit)s::int;

-- name: owners_of_blob
-- The captures that have these bytes.
SELECT f.capture
  FROM capture_file f
 WHERE f.organisation = %(organisation)s::uuid AND f.sha256 = %(digest)s::bytea
 ORDER BY f.capture
 LIMIT 5;

-- name: states
SELECT state, count(*) FROM capture_now WHERE organisation = %(organisation)s::uuid GROUP BY state;

-- name: ran_out
-- Claims that were not given back in time, kept from others.
SELECT c.id, c.lease
  FROM capture c
  JOIN lease l ON l.id = c.lease AND l.organisation = c.organisation AND l.expires_at <= clock_timestamp()
 WHERE c.organisation = %(organisation)s::uuid AND c.lease IS NOT NULL
 ORDER BY c.id
 LIMIT 500
   FOR UPDATE OF c SKIP LOCKED;

-- name: waiting_anywhere
-- What waits to be handed on, oldest first, kept from others.
SELECT id, site, received_at
  FROM capture
 WHERE organisation = %(organisation)s::uuid AND standing = 'received' AND lease IS NULL
 ORDER BY received_at, id
 LIMIT %(limit)s::int
   FOR UPDATE SKIP LOCKED;

-- name: waiting_at
SELECT id, site, received_at
  FROM capture
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text AND standing = 'received' AND lease IS NULL
 ORDER BY received_at, id
 LIMIT %(limit)s::int
   FOR UPDATE SKIP LOCKED;

-- name: claim
UPDATE capture c
   SET fence = c.fence + 1, lease = g.lease, updated_at = clock_timestamp()
  FROM unnest(%(captures)s::uuid[], %(leases)s::uuid[]) AS g (id, lease)
 WHERE c.organisation = %(organisation)s::uuid AND c.id = g.id
RETURNING c.id, c.fence;

-- name: hold
SELECT id FROM capture WHERE organisation = %(organisation)s::uuid AND id = ANY(%(captures)s::uuid[]) ORDER BY id FOR UPDATE;

-- name: failures
SELECT id, failures FROM capture WHERE organisation = %(organisation)s::uuid AND id = ANY(%(captures)s::uuid[]);

-- name: settle
-- The claim is over: leave the capture as that says.
UPDATE capture c
   SET lease = NULL, standing = g.standing, failures = g.failures, reason = g.reason, updated_at = clock_timestamp()
  FROM unnest(%(captures)s::uuid[], %(states)s::text[], %(failed)s::int[], %(reasons)s::text[])
    AS g (id, standing, failures, reason)
 WHERE c.organisation = %(organisation)s::uuid AND c.id = g.id;

-- name: claimed_on
SELECT lease_id, id
  FROM capture_now
 WHERE organisation = %(organisation)s::uuid AND lease_id = ANY(%(leases)s::uuid[]);

-- name: outlook
-- What there is of what somebody wanted, and when the next claim runs out.
SELECT count(*) FILTER (WHERE state = 'received') AS received, count(*) FILTER (WHERE state = 'claimed') AS claimed,
       min(expires_at) AS next_at, extract(epoch FROM min(expires_at) - clock_timestamp())::float8 AS in_s
  FROM capture_now
 WHERE organisation = %(organisation)s::uuid AND (%(site)s::text IS NULL OR site = %(site)s::text)
   AND state IN ('received', 'claimed');

-- name: lease_books
-- Every grant ended somehow or is held. The lowest 29 bits of a fence count grants (leases/fences.py).
SELECT coalesce(sum(r.fence & 536870911), 0)::bigint, coalesce(sum(e.released), 0)::bigint,
       coalesce(sum(e.expired), 0)::bigint, coalesce(sum(e.revoked), 0)::bigint, count(l.id),
       count(*) FILTER (WHERE (r.fence & 536870911) <> coalesce(e.ends, 0) + CASE WHEN l.id IS NULL THEN 0 ELSE 1 END),
       count(*) FILTER (WHERE (r.lease IS NULL) <> (l.id IS NULL) OR r.lease <> l.id OR r.fence < l.fence)
  FROM capture r
  LEFT JOIN lease l ON l.resource = r.id AND l.organisation = %(organisation)s::uuid
  LEFT JOIN (SELECT resource, count(*) AS ends, count(*) FILTER (WHERE how = 'released') AS released,
                    count(*) FILTER (WHERE how = 'expired') AS expired,
                    count(*) FILTER (WHERE how IN ('revoked', 'superseded')) AS revoked
               FROM lease_end
              WHERE organisation = %(organisation)s::uuid AND kind = 'capture'
              GROUP BY resource) e ON e.resource = r.id
 WHERE r.organisation = %(organisation)s::uuid;
