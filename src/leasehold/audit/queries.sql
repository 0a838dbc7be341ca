-- name: record
INSERT INTO audit_event (id, organisation, actor, actor_name, action, subject, detail, request_id)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(actor)s::uuid, %(actor_name)s::text, %(action)s::text,
        %(subject)s::text, %(detail)s::jsonb, %(request_id)s::text);

-- name: record_many
INSERT INTO audit_event (id, organisation, actor, actor_name, action, subject, detail, request_id)
SELECT g.id, %(organisation)s::uuid, g.actor, g.actor_name, g.action, g.subject, g.detail::jsonb, g.request_id
  FROM unnest(%(ids)s::uuid[], %(actors)s::uuid[], %(actor_names)s::text[], %(actions)s::text[], %(subjects)s::text[],
              %(details)s::text[], %(request_ids)s::text[])
    AS g (id, actor, actor_name, action, subject, detail, request_id);

-- name: page
-- Newest first; ids sort by time.
SELECT id, at, actor, actor_name, action, subject, detail, request_id
  FROM audit_event
 WHERE organisation = %(organisation)s::uuid
   AND (%(subject)s::text IS NULL OR subject = %(subject)s::text)
   AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
 ORDER BY id DESC
 LIMIT %(limit)s::int;

-- name: life
-- What happened to one thing, oldest first.
SELECT id, at, actor, actor_name, action, subject, detail, request_id
  FROM audit_event
 WHERE organisation = %(organisation)s::uuid AND subject = %(subject)s::text
   AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
 ORDER BY id
 LIMIT %(limit)s::int;

-- name: by_ids
SELECT id, at, actor, actor_name, action, subject, detail, request_id
  FROM audit_event
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(ids)s::uuid[]);

-- name: organisations
-- Across organisations: each has a chain of its own.
SELECT id, slug FROM organisation ORDER BY slug;

-- name: last_seal
SELECT seq, era, xact::text AS xact, event, events, extract(epoch FROM at)::text AS at, digest
  FROM audit_seal
 WHERE organisation = %(organisation)s::uuid
 ORDER BY seq DESC
 LIMIT 1;

-- name: seals
SELECT seq, era, xact::text AS xact, event, events, extract(epoch FROM at)::text AS at, digest
  FROM audit_seal
 WHERE organisation = %(organisation)s::uuid AND seq > %(seq)s::bigint
 ORDER BY seq
 LIMIT %(limit)s::int;

-- name: take_turn
-- One sealer at a time. The lock is only tried when there is something to seal, which the index tells at once.
SELECT pg_try_advisory_xact_lock(hashtext('leasehold audit seal'), hashtext(%(organisation)s::uuid::text)) AS is_ours
 WHERE EXISTS (
         SELECT FROM audit_event
          WHERE organisation = %(organisation)s::uuid
            AND (era, xact, id) > (%(era)s::int, %(xact)s::xid8, %(event)s::uuid)
            AND (era, xact) < (audit_era(), pg_snapshot_xmin(pg_current_snapshot())));

-- name: horizon
-- Every transaction before this one has ended, so nothing can come to stand before it any more.
SELECT audit_era() AS era, pg_snapshot_xmin(pg_current_snapshot())::text AS xact,
       at, extract(epoch FROM at)::text AS exact_at
  FROM clock_timestamp() AS at;

-- name: events
-- All columns, each as a value that is written in one way only, whatever the session's settings. The order names its
-- table: a bare name would mean the text above, by which 10 comes before 9.
SELECT era, xact::text, id, organisation, extract(epoch FROM at)::text, actor, actor_name, action, subject, detail::text,
       request_id
  FROM audit_event
 WHERE organisation = %(organisation)s::uuid
   AND (era, xact, id) > (%(era)s::int, %(xact)s::xid8, %(event)s::uuid)
   AND (era, xact, id) <= (%(to_era)s::int, %(to_xact)s::xid8, %(to_event)s::uuid)
 ORDER BY audit_event.era, audit_event.xact, audit_event.id
 LIMIT %(limit)s::int;

-- name: seal
INSERT INTO audit_seal (organisation, seq, era, xact, event, events, at, digest)
VALUES (%(organisation)s::uuid, %(seq)s::bigint, %(era)s::int, %(xact)s::xid8, %(event)s::uuid, %(events)s::int,
        %(at)s::timestamptz, %(digest)s::bytea);

-- name: after_seal
-- What waits after a place, and whether that place or anything after it names a transaction that was not yet.
SELECT count(*) AS waiting,
       (%(era)s::int, %(xact)s::xid8) >= (audit_era(), pg_snapshot_xmax(pg_current_snapshot()))
       OR coalesce(bool_or((era, xact) >= (audit_era(), pg_snapshot_xmax(pg_current_snapshot()))), false) AS is_ahead
  FROM audit_event
 WHERE organisation = %(organisation)s::uuid
   AND (era, xact, id) > (%(era)s::int, %(xact)s::xid8, %(event)s::uuid);
