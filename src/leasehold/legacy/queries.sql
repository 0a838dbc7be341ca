-- name: turn
-- Imports of one organisation take turns, a batch each.
SELECT pg_advisory_xact_lock(hashtextextended('legacy import ' || %(organisation)s::uuid::text, 0));

-- name: known
SELECT legacy_id, document, site, capture, event, addresses, digest
  FROM legacy_item
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND legacy_id = ANY(%(legacy_ids)s::text[]);

-- name: items
SELECT legacy_id, document, site, capture, event, addresses, digest
  FROM legacy_item
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text
   AND legacy_id > %(after_id)s::text
 ORDER BY legacy_id
 LIMIT %(limit)s::int;

-- name: keep
-- A site that got more addresses is noted again.
INSERT INTO legacy_item (organisation, kind, legacy_id, document, site, capture, event, addresses, digest)
SELECT %(organisation)s::uuid, %(kind)s::text, g.legacy_id, g.document, g.site, g.capture, g.event, g.addresses, g.digest
  FROM unnest(%(legacy_ids)s::text[], %(documents)s::text[], %(sites)s::text[], %(captures)s::uuid[], %(events)s::uuid[],
              %(addresses)s::int[], %(digests)s::bytea[])
    AS g (legacy_id, document, site, capture, event, addresses, digest)
ON CONFLICT (organisation, kind, legacy_id) DO UPDATE
   SET addresses = excluded.addresses, digest = excluded.digest
 WHERE legacy_item.kind = 'site' AND legacy_item.document = excluded.document;

-- name: progress
SELECT step, phase, position, report_bytes, tallies
  FROM legacy_run
 WHERE organisation = %(organisation)s::uuid AND source = %(source)s::bytea;

-- name: begin
INSERT INTO legacy_run (organisation, source, step, phase, position, tallies, report_bytes)
VALUES (%(organisation)s::uuid, %(source)s::bytea, 1, %(phase)s::text, %(position)s::text, %(tallies)s::jsonb,
        %(report_bytes)s::bigint)
ON CONFLICT (organisation, source) DO NOTHING;

-- name: advance
-- No row when somebody else has gone on from here.
UPDATE legacy_run
   SET step = step + 1, phase = %(phase)s::text, position = %(position)s::text, tallies = %(tallies)s::jsonb,
       report_bytes = %(report_bytes)s::bigint, updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND source = %(source)s::bytea AND step = %(step)s::int;

-- name: finish
DELETE FROM legacy_run WHERE organisation = %(organisation)s::uuid AND source = %(source)s::bytea;
