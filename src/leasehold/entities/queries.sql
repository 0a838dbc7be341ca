-- name: open_batch
INSERT INTO record_batch (id, organisation, source, items, left_over, done_at)
VALUES (%(batch)s::uuid, %(organisation)s::uuid, %(source)s::text, %(items)s::int, %(items)s::int,
        CASE WHEN %(items)s::int = 0 THEN clock_timestamp() END);

-- name: enqueue
INSERT INTO record_queue (organisation, batch, priority, run, items, bytes, content)
SELECT %(organisation)s::uuid, %(batch)s::uuid, %(priority)s::int, %(run)s::uuid, g.size, octet_length(g.content), g.content
  FROM unnest(%(sizes)s::int[], %(contents)s::bytea[]) WITH ORDINALITY AS g (size, content, place)
 ORDER BY g.place;

-- name: queued_bytes
SELECT coalesce(sum(bytes), 0) FROM record_queue WHERE organisation = %(organisation)s::uuid;

-- name: take
-- The next page whatever its size, and more while it does not get too much.
SELECT seq, batch, run, items, content
  FROM (SELECT seq, batch, run, items, content, priority, sum(items) OVER (ORDER BY priority DESC, seq) - items AS before
          FROM (SELECT seq, batch, run, items, content, priority
                  FROM record_queue
                 WHERE organisation = %(organisation)s::uuid
                 ORDER BY priority DESC, seq
                 LIMIT 64) AS next) AS summed
 WHERE before = 0 OR before + items <= %(most)s::int
 ORDER BY priority DESC, seq;

-- name: dequeue
DELETE FROM record_queue WHERE organisation = %(organisation)s::uuid AND seq = ANY(%(seqs)s::bigint[]);

-- name: batch
SELECT id, items, left_over, outcomes, created_at, done_at
  FROM record_batch
 WHERE organisation = %(organisation)s::uuid AND id = %(batch)s::uuid;

-- name: sweep_batches
-- Across organisations.
DELETE FROM record_batch WHERE done_at < clock_timestamp() - interval '7 days';

-- name: book
UPDATE record_batch AS b
   SET left_over = b.left_over - g.done,
       done_at = CASE WHEN b.left_over = g.done THEN clock_timestamp() END,
       outcomes = (SELECT coalesce(jsonb_object_agg(name, total), '{}')
                     FROM (SELECT name, sum(count::bigint) AS total
                             FROM (SELECT * FROM jsonb_each_text(b.outcomes)
                                   UNION ALL
                                   SELECT * FROM jsonb_each_text(g.outcomes::jsonb)) AS both_ (name, count)
                            GROUP BY name) AS summed)
  FROM unnest(%(batches)s::uuid[], %(done)s::int[], %(outcomes)s::text[]) AS g (batch, done, outcomes)
 WHERE b.organisation = %(organisation)s::uuid AND b.id = g.batch;

-- name: set_aside
INSERT INTO record_dead_letter (id, organisation, batch, source, source_id, reason, content)
SELECT g.id, %(organisation)s::uuid, g.batch, g.source, g.source_id, g.reason, g.content
  FROM unnest(%(ids)s::uuid[], %(batches)s::uuid[], %(sources)s::text[], %(source_ids)s::text[], %(reasons)s::text[],
              %(contents)s::text[]) AS g (id, batch, source, source_id, reason, content);

-- name: letters
SELECT id, source, source_id, batch, reason, content, at
  FROM record_dead_letter
 WHERE organisation = %(organisation)s::uuid
   AND (%(from_source)s::text IS NULL OR source = %(from_source)s::text)
   AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
 ORDER BY id DESC
 LIMIT %(limit)s::int;

-- name: count
INSERT INTO graph_count AS c (organisation, source, name, count)
SELECT %(organisation)s::uuid, g.source, g.name, g.count
  FROM unnest(%(sources)s::text[], %(names)s::text[], %(counts)s::bigint[]) AS g (source, name, count)
    ON CONFLICT (organisation, source, name) DO UPDATE SET count = c.count + EXCLUDED.count;

-- name: links
SELECT coalesce(sum(count), 0)::bigint
  FROM graph_count
 WHERE organisation = %(organisation)s::uuid AND source = %(of_source)s::text AND name LIKE 'linked%%';

-- name: counts
SELECT source, name, count FROM graph_count WHERE organisation = %(organisation)s::uuid ORDER BY source, name;

-- name: known
SELECT node, id, source, source_id, name, content, digest, state, entity, step
  FROM source_record
 WHERE organisation = %(organisation)s::uuid AND node = ANY(%(nodes)s::bigint[]);

-- name: see_again
UPDATE source_record AS r
   SET times_seen = r.times_seen + g.times,
       first_seen_run = coalesce(r.first_seen_run, g.run),
       last_seen_run = coalesce(g.run, r.last_seen_run)
  FROM unnest(%(nodes)s::bigint[], %(times)s::bigint[], %(runs)s::uuid[]) AS g (node, times, run)
 WHERE r.organisation = %(organisation)s::uuid AND r.node = g.node;

-- name: keep_records
INSERT INTO source_record AS r (organisation, node, id, kind, source, source_id, name, content, digest, state, entity, step,
                                evidence, linked_with, times_seen, first_seen_run, last_seen_run)
SELECT %(organisation)s::uuid, g.node, g.id, %(kind)s::text, g.source, g.source_id, g.name, g.content, g.digest, g.state,
       g.entity, g.step, g.evidence, g.linked_with, g.times, g.run, g.run
  FROM unnest(%(nodes)s::bigint[], %(ids)s::uuid[], %(sources)s::text[], %(source_ids)s::text[], %(names)s::text[],
              %(contents)s::bytea[], %(digests)s::bytea[], %(states)s::text[], %(entities)s::uuid[], %(steps)s::text[],
              %(evidences)s::text[], %(linked_with)s::bigint[], %(times)s::bigint[], %(runs)s::uuid[])
       AS g (node, id, source, source_id, name, content, digest, state, entity, step, evidence, linked_with, times, run)
    ON CONFLICT (organisation, node) DO UPDATE
   SET name = EXCLUDED.name, content = EXCLUDED.content, digest = EXCLUDED.digest, state = EXCLUDED.state,
       entity = EXCLUDED.entity, step = EXCLUDED.step, evidence = EXCLUDED.evidence, linked_with = EXCLUDED.linked_with, times_seen = r.times_seen + EXCLUDED.times_seen,
       first_seen_run = coalesce(r.first_seen_run, EXCLUDED.first_seen_run),
       last_seen_run = coalesce(EXCLUDED.last_seen_run, r.last_seen_run), updated_at = clock_timestamp();

-- name: cut
-- The edges of these records, which are found anew. Of each pair one side is enough to find it.
DELETE FROM edge
 WHERE organisation = %(organisation)s::uuid AND epoch = %(epoch)s::int
   AND (a = ANY(%(nodes)s::bigint[]) OR b = ANY(%(nodes)s::bigint[]));

-- name: unkey
DELETE FROM link_key AS k
 USING unnest(%(hashes)s::bigint[], %(nodes)s::bigint[]) AS g (key, node)
 WHERE k.organisation = %(organisation)s::uuid AND k.key = g.key AND k.node = g.node AND k.epoch = %(epoch)s::int;

-- name: key
INSERT INTO link_key (organisation, key, node, epoch)
SELECT %(organisation)s::uuid, g.key, g.node, %(epoch)s::int
  FROM unnest(%(hashes)s::bigint[], %(nodes)s::bigint[]) AS g (key, node)
 ORDER BY g.key
    ON CONFLICT DO NOTHING;

-- name: sharing
SELECT key, node
  FROM link_key
 WHERE organisation = %(organisation)s::uuid AND key = ANY(%(hashes)s::bigint[]) AND epoch = %(epoch)s::int;

-- name: tie
INSERT INTO edge (organisation, a, b, epoch, bits, step, teaches)
SELECT %(organisation)s::uuid, g.a, g.b, %(epoch)s::int, g.bits, g.step,
       CASE WHEN NOT EXISTS (SELECT FROM link_decision AS d
                              WHERE d.organisation = %(organisation)s::uuid AND d.a = g.a AND d.b = g.b)
            THEN g.teaches END
  FROM unnest(%(firsts)s::bigint[], %(seconds)s::bigint[], %(bits)s::real[], %(steps)s::text[],
              %(teaches)s::real[]) AS g (a, b, bits, step, teaches)
    ON CONFLICT (organisation, a, b, epoch) DO UPDATE
   SET bits = EXCLUDED.bits, step = EXCLUDED.step, teaches = EXCLUDED.teaches;

-- name: outside
SELECT a, b, bits, part FROM edge_part
 WHERE organisation = %(organisation)s::uuid AND a = ANY(%(nodes)s::bigint[])
UNION
SELECT a, b, bits, part FROM edge_part
 WHERE organisation = %(organisation)s::uuid AND b = ANY(%(nodes)s::bigint[]);

-- name: mates
SELECT mate.node, mate.source, mate.state, mate.entity
  FROM (SELECT DISTINCT entity FROM source_record
         WHERE organisation = %(organisation)s::uuid AND node = ANY(%(nodes)s::bigint[])) AS home
  JOIN source_record AS mate ON mate.organisation = %(organisation)s::uuid AND mate.entity = home.entity;

-- name: ties
SELECT a, b, bits FROM edge
 WHERE organisation = %(organisation)s::uuid AND epoch = %(epoch)s::int AND a = ANY(%(nodes)s::bigint[])
UNION ALL
SELECT b, a, bits FROM edge
 WHERE organisation = %(organisation)s::uuid AND epoch = %(epoch)s::int AND b = ANY(%(nodes)s::bigint[]);

-- name: same_by_word
SELECT b FROM link_decision
 WHERE organisation = %(organisation)s::uuid AND a = ANY(%(nodes)s::bigint[]) AND decision = 'same'
UNION
SELECT a FROM link_decision
 WHERE organisation = %(organisation)s::uuid AND b = ANY(%(nodes)s::bigint[]) AND decision = 'same';

-- name: decisions_among
SELECT d.a, d.b, d.decision
  FROM link_decision AS d
 WHERE d.organisation = %(organisation)s::uuid AND d.a = ANY(%(nodes)s::bigint[]) AND d.b = ANY(%(nodes)s::bigint[]);

-- name: retired
SELECT founder, id
  FROM entity
 WHERE organisation = %(organisation)s::uuid AND merged_into IS NOT NULL AND founder = ANY(%(founders)s::bigint[])
 ORDER BY id DESC;

-- name: founder
SELECT founder FROM entity WHERE organisation = %(organisation)s::uuid AND id = %(entity)s::uuid;

-- name: keep_entities
INSERT INTO entity AS e (id, organisation, kind, name, founder, size, aliases, external_ids, urls, attributes)
SELECT g.id, %(organisation)s::uuid, %(kind)s::text, g.name, g.founder, g.size,
       ARRAY(SELECT jsonb_array_elements_text(g.aliases::jsonb)), g.external_ids::jsonb, g.urls::jsonb, g.attributes::jsonb
  FROM unnest(%(ids)s::uuid[], %(names)s::text[], %(founders)s::bigint[], %(sizes)s::int[], %(aliases)s::text[],
              %(externals)s::text[], %(urls)s::text[], %(attributes)s::text[])
       AS g (id, name, founder, size, aliases, external_ids, urls, attributes)
    ON CONFLICT (id) DO UPDATE
   SET name = EXCLUDED.name, size = EXCLUDED.size, aliases = EXCLUDED.aliases, external_ids = EXCLUDED.external_ids,
       urls = EXCLUDED.urls, attributes = EXCLUDED.attributes, merged_into = NULL, updated_at = clock_timestamp()
 WHERE e.organisation = %(organisation)s::uuid;

-- name: merge_away
UPDATE entity AS e
   SET merged_into = g.heir, size = 0, aliases = '{}', external_ids = '{}', urls = '{}', attributes = '{}',
       updated_at = clock_timestamp()
  FROM unnest(%(gone)s::uuid[], %(heirs)s::uuid[]) AS g (gone, heir)
 WHERE e.organisation = %(organisation)s::uuid AND e.id = g.gone;

-- name: point_on
UPDATE entity AS e
   SET merged_into = g.heir
  FROM unnest(%(gone)s::uuid[], %(heirs)s::uuid[]) AS g (gone, heir)
 WHERE e.organisation = %(organisation)s::uuid AND e.merged_into = g.gone;

-- name: move
UPDATE source_record AS r
   SET entity = g.entity
  FROM unnest(%(nodes)s::bigint[], %(entities)s::uuid[]) AS g (node, entity)
 WHERE r.organisation = %(organisation)s::uuid AND r.node = g.node;

-- name: reteach
-- What a person's word on edges is worth by now, where that changed; nobody is asked twice.
UPDATE edge AS e
   SET teaches = CASE WHEN NOT EXISTS (SELECT FROM link_decision AS d
                                        WHERE d.organisation = %(organisation)s::uuid AND d.a = e.a AND d.b = e.b)
                      THEN g.worth END
  FROM unnest(%(firsts)s::bigint[], %(seconds)s::bigint[], %(worths)s::real[]) AS g (a, b, worth)
 WHERE e.organisation = %(organisation)s::uuid AND e.a = g.a AND e.b = g.b AND e.epoch = %(epoch)s::int;

-- name: tell
INSERT INTO entity_change (organisation, entity, change, actor, details)
SELECT %(organisation)s::uuid, g.entity, g.change, %(actor)s::text, g.details::jsonb
  FROM unnest(%(entities)s::uuid[], %(changes)s::text[], %(details)s::text[]) WITH ORDINALITY
       AS g (entity, change, details, place)
 ORDER BY g.place;

-- name: changes
SELECT seq, at, entity, change, actor, details
  FROM entity_change
 WHERE organisation = %(organisation)s::uuid AND seq > %(since)s::bigint
   AND (%(entity)s::uuid IS NULL OR entity = %(entity)s::uuid)
 ORDER BY seq
 LIMIT %(limit)s::int;

-- name: claim_writer
-- For whoever asks first once the last one's time is over; who has it already keeps it.
INSERT INTO graph_writer AS w (organisation, holder, fence, until)
VALUES (%(organisation)s::uuid, %(holder)s::uuid, 1, clock_timestamp() + %(lease_s)s::float8 * interval '1 second')
    ON CONFLICT (organisation) DO UPDATE
   SET holder = EXCLUDED.holder, fence = w.fence + 1, until = EXCLUDED.until
 WHERE w.until < clock_timestamp()
RETURNING fence;

-- name: think_longer
-- Between two statements of a batch much is compared.
SELECT set_config('idle_in_transaction_session_timeout', '60s', true);

-- name: hold_writer
-- At the beginning of everything the writer writes: nobody else has come in between, and nobody does until the end.
UPDATE graph_writer
   SET until = clock_timestamp() + %(lease_s)s::float8 * interval '1 second'
 WHERE organisation = %(organisation)s::uuid AND holder = %(holder)s::uuid AND fence = %(fence)s::bigint
RETURNING generation, changes;

-- name: leave_writer
UPDATE graph_writer
   SET until = '-infinity'
 WHERE organisation = %(organisation)s::uuid AND holder = %(holder)s::uuid AND fence = %(fence)s::bigint;

-- name: wait_for_writer
-- People change the graph between two batches: in the same order of things, though not by the writer's hand.
INSERT INTO graph_writer AS w (organisation) VALUES (%(organisation)s::uuid)
    ON CONFLICT (organisation) DO UPDATE
   SET generation = w.generation + %(forgets)s::int, changes = w.changes + 1;

-- name: waiting
-- Across organisations: who has something to write, or an epoch to move to.
SELECT organisation FROM record_queue
UNION
SELECT organisation FROM link_epoch WHERE state = 'moving';

-- name: page
SELECT e.id, e.kind, e.name, e.aliases, e.external_ids, e.urls, e.attributes, e.size, e.created_at, e.updated_at,
       e.merged_into, coalesce(seen.times, e.times_seen) AS times_seen,
       coalesce(seen.first_run, e.first_seen_run) AS first_seen_run_id,
       coalesce(seen.last_run, e.last_seen_run) AS last_seen_run_id, coalesce(seen.sources, '{}') AS sources
  FROM entity AS e
  LEFT JOIN LATERAL (
       SELECT sum(r.times_seen)::bigint AS times, (array_agg(r.first_seen_run ORDER BY r.created_at))[1] AS first_run,
              (array_agg(r.last_seen_run ORDER BY r.updated_at DESC))[1] AS last_run,
              array_agg(DISTINCT r.source ORDER BY r.source) AS sources
         FROM source_record AS r
        WHERE r.organisation = %(organisation)s::uuid AND r.entity = e.id) AS seen ON true
 WHERE e.organisation = %(organisation)s::uuid
   AND e.merged_into IS NULL
   AND (%(kind)s::text IS NULL OR e.kind = %(kind)s::text)
   AND (%(q)s::text IS NULL OR strpos(lower(e.name), lower(%(q)s::text)) > 0
        OR EXISTS (SELECT FROM unnest(e.aliases) AS alias WHERE strpos(lower(alias), lower(%(q)s::text)) > 0))
   AND (%(after)s::uuid IS NULL OR e.id > %(after)s::uuid)
 ORDER BY e.id
 LIMIT %(limit)s::int;

-- name: get
SELECT e.id, e.kind, e.name, e.aliases, e.external_ids, e.urls, e.attributes, e.size, e.created_at, e.updated_at,
       e.merged_into, coalesce(seen.times, e.times_seen) AS times_seen,
       coalesce(seen.first_run, e.first_seen_run) AS first_seen_run_id,
       coalesce(seen.last_run, e.last_seen_run) AS last_seen_run_id, coalesce(seen.sources, '{}') AS sources
  FROM entity AS e
  LEFT JOIN LATERAL (
       SELECT sum(r.times_seen)::bigint AS times, (array_agg(r.first_seen_run ORDER BY r.created_at))[1] AS first_run,
              (array_agg(r.last_seen_run ORDER BY r.updated_at DESC))[1] AS last_run,
              array_agg(DISTINCT r.source ORDER BY r.source) AS sources
         FROM source_record AS r
        WHERE r.organisation = %(organisation)s::uuid AND r.entity = e.id) AS seen ON true
 WHERE e.organisation = %(organisation)s::uuid AND e.id = %(entity)s::uuid;

-- name: records_of
SELECT node, id, kind, source, source_id, name, content, state, entity, step, evidence, times_seen, first_seen_run, last_seen_run,
       created_at, updated_at
  FROM source_record
 WHERE organisation = %(organisation)s::uuid AND entity = ANY(%(entities)s::uuid[])
 ORDER BY entity, source, source_id;

-- name: epoch_current
SELECT number, parameters
  FROM link_epoch
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND state = 'current';

-- name: epoch_number
SELECT number, version
  FROM link_epoch
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND state = 'current';

-- name: epoch_open
INSERT INTO link_epoch (organisation, kind, number, version, origin, state, parameters, records, current_at)
SELECT %(organisation)s::uuid, %(kind)s::text,
       1 + coalesce((SELECT max(number) FROM link_epoch
                      WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text), 0),
       %(version)s::text, %(origin)s::text, %(state)s::text, %(parameters)s::jsonb, %(records)s::bigint,
       CASE WHEN %(state)s::text = 'current' THEN clock_timestamp() END
RETURNING number;

-- name: suppressed
SELECT mark FROM suppression WHERE organisation = %(organisation)s::uuid;

-- name: suppress
INSERT INTO suppression (organisation, mark)
SELECT %(organisation)s::uuid, g.mark FROM unnest(%(marks)s::bytea[]) AS g (mark)
    ON CONFLICT DO NOTHING;

-- name: partition
-- Every entity, as the sorted nodes of its records.
SELECT array_agg(node ORDER BY node) FROM source_record WHERE organisation = %(organisation)s::uuid GROUP BY entity;

-- name: say
INSERT INTO link_decision (organisation, a, b, decision, actor)
SELECT %(organisation)s::uuid, g.a, g.b, %(decision)s::text, %(actor)s::text
  FROM unnest(%(firsts)s::bigint[], %(seconds)s::bigint[]) AS g (a, b)
    ON CONFLICT (organisation, a, b) DO UPDATE
   SET decision = EXCLUDED.decision, actor = EXCLUDED.actor, at = clock_timestamp();

-- name: unite
INSERT INTO link_decision (organisation, a, b, decision, actor)
SELECT %(organisation)s::uuid, g.a, g.b, 'same', g.source
  FROM unnest(%(firsts)s::bigint[], %(seconds)s::bigint[], %(sources)s::text[]) AS g (a, b, source)
    ON CONFLICT (organisation, a, b) DO NOTHING;

-- name: unsay
DELETE FROM link_decision AS d
 USING unnest(%(firsts)s::bigint[], %(seconds)s::bigint[]) AS g (a, b)
 WHERE d.organisation = %(organisation)s::uuid AND d.a = g.a AND d.b = g.b;

-- name: said_same
SELECT 1
  FROM link_decision AS d
  JOIN unnest(%(firsts)s::bigint[], %(seconds)s::bigint[]) AS g (a, b) ON d.a = g.a AND d.b = g.b
 WHERE d.organisation = %(organisation)s::uuid AND d.decision = 'same'
 LIMIT 1;

-- name: reviewed
SELECT r.kind
  FROM edge AS e
  JOIN source_record AS r ON r.organisation = %(organisation)s::uuid AND r.node = e.a
  JOIN source_record AS other ON other.organisation = %(organisation)s::uuid AND other.node = e.b
  JOIN link_epoch AS p ON p.organisation = %(organisation)s::uuid AND p.kind = r.kind AND p.state = 'current'
                      AND p.number = e.epoch
 WHERE e.organisation = %(organisation)s::uuid AND e.a = %(a)s::bigint AND e.b = %(b)s::bigint;

-- name: close_review
UPDATE edge SET teaches = NULL
 WHERE organisation = %(organisation)s::uuid AND a = %(a)s::bigint AND b = %(b)s::bigint;

-- name: reopen_review
-- Nobody has said anything of the two: unless they are one anyway, that can be asked again.
UPDATE edge AS e
   SET teaches = CASE WHEN ra.entity <> rb.entity THEN (least(ea.size + eb.size, 50) / (1 + abs(e.bits)))::real END
  FROM source_record AS ra, source_record AS rb, entity AS ea, entity AS eb
 WHERE e.organisation = %(organisation)s::uuid AND e.a = %(a)s::bigint AND e.b = %(b)s::bigint
   AND ra.organisation = %(organisation)s::uuid AND ra.node = e.a
   AND rb.organisation = %(organisation)s::uuid AND rb.node = e.b
   AND ea.organisation = %(organisation)s::uuid AND ea.id = ra.entity
   AND eb.organisation = %(organisation)s::uuid AND eb.id = rb.entity;

-- name: reviews
-- By what teaches most. Edges of an epoch that is not in force are nobody's question.
SELECT e.a, e.b, e.teaches
  FROM edge AS e
  JOIN source_record AS r ON r.organisation = %(organisation)s::uuid AND r.node = e.a
  JOIN link_epoch AS p ON p.organisation = %(organisation)s::uuid AND p.kind = r.kind AND p.state = 'current'
                      AND p.number = e.epoch
 WHERE e.organisation = %(organisation)s::uuid AND e.teaches IS NOT NULL
   AND (%(kind)s::text IS NULL OR r.kind = %(kind)s::text)
   AND (%(teaches)s::real IS NULL OR (-e.teaches, e.a, e.b) > (-%(teaches)s::real, %(a)s::bigint, %(b)s::bigint))
 ORDER BY e.teaches DESC, e.a, e.b
 LIMIT %(limit)s::int;

-- name: open_reviews
SELECT count(*) FROM edge WHERE organisation = %(organisation)s::uuid AND teaches IS NOT NULL;

-- name: records
SELECT node, id, kind, source, source_id, name, content, state, entity, step, evidence, times_seen, first_seen_run, last_seen_run,
       created_at, updated_at
  FROM source_record
 WHERE organisation = %(organisation)s::uuid AND node = ANY(%(nodes)s::bigint[]);

-- name: edges_inside
SELECT e.a, e.b
  FROM unnest(%(nodes)s::bigint[]) AS g (node)
  JOIN edge AS e ON e.organisation = %(organisation)s::uuid AND e.a = g.node
  JOIN link_epoch AS p ON p.organisation = %(organisation)s::uuid AND p.kind = %(kind)s::text AND p.state = 'current'
                      AND p.number = e.epoch
 WHERE e.b = ANY(%(nodes)s::bigint[])
 ORDER BY e.bits DESC, e.a, e.b
 LIMIT %(limit)s::int;

-- name: decisions_inside
SELECT d.a, d.b, d.decision, d.actor, d.at
  FROM link_decision AS d
 WHERE d.organisation = %(organisation)s::uuid AND d.a = ANY(%(nodes)s::bigint[]) AND d.b = ANY(%(nodes)s::bigint[])
 ORDER BY d.at
 LIMIT %(limit)s::int;

-- name: epochs
-- Nodes are spread evenly and are gone through in their order, so the last one says how far it is.
SELECT kind, number, version, origin, state, records, difference, created_at, current_at,
       CASE WHEN state = 'moving' THEN coalesce((reached::float8 + 2.0 ^ 63) / 2.0 ^ 64, 0) END AS progress
  FROM link_epoch
 WHERE organisation = %(organisation)s::uuid AND (%(kind)s::text IS NULL OR kind = %(kind)s::text)
 ORDER BY kind, number DESC;

-- name: names
SELECT id, name FROM entity WHERE organisation = %(organisation)s::uuid AND id = ANY(%(entities)s::uuid[]);

-- name: epoch_difference
UPDATE link_epoch SET difference = %(difference)s::jsonb
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND number = %(number)s::int;

-- name: epoch_begin
-- One at a time; what was proposed can be moved to, and what was moved from.
UPDATE link_epoch AS p SET state = 'moving', reached = NULL
 WHERE p.organisation = %(organisation)s::uuid AND p.kind = %(kind)s::text AND p.number = %(number)s::int
   AND p.state IN ('proposed', 'past')
   AND NOT EXISTS (SELECT FROM link_epoch AS m
                    WHERE m.organisation = %(organisation)s::uuid AND m.kind = %(kind)s::text AND m.state = 'moving')
RETURNING p.number;

-- name: epoch_moving
SELECT kind, number, parameters, reached
  FROM link_epoch
 WHERE organisation = %(organisation)s::uuid AND state = 'moving'
 ORDER BY kind
 LIMIT 1;

-- name: epoch_reached
UPDATE link_epoch SET reached = %(reached)s::bigint
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND number = %(number)s::int;

-- name: epoch_retire
UPDATE link_epoch SET state = 'past'
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND state = 'current';

-- name: epoch_switch
UPDATE link_epoch SET state = 'current', current_at = clock_timestamp(), records = %(record_count)s::bigint
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text AND number = %(number)s::int;

-- name: records_after
SELECT node, id, source, source_id, name, content, digest, state, entity, step
  FROM source_record
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text
   AND (%(after)s::bigint IS NULL OR node > %(after)s::bigint)
 ORDER BY node
 LIMIT %(limit)s::int;

-- name: standings
SELECT node, source, state, entity
  FROM source_record
 WHERE organisation = %(organisation)s::uuid AND kind = %(kind)s::text;

-- name: edges_of_epoch
SELECT e.a, e.b, e.bits
  FROM edge AS e
  JOIN source_record AS r ON r.organisation = %(organisation)s::uuid AND r.node = e.a AND r.kind = %(kind)s::text
 WHERE e.organisation = %(organisation)s::uuid AND e.epoch = %(epoch)s::int;

-- name: decisions_all
SELECT d.a, d.b, d.decision
  FROM link_decision AS d
  JOIN source_record AS r ON r.organisation = %(organisation)s::uuid AND r.node = d.a AND r.kind = %(kind)s::text
 WHERE d.organisation = %(organisation)s::uuid;

-- name: clear_epoch_edges
DELETE FROM edge AS e
 USING source_record AS r
 WHERE e.organisation = %(organisation)s::uuid AND r.organisation = %(organisation)s::uuid AND r.node = e.a
   AND r.kind = %(kind)s::text AND e.epoch = %(epoch)s::int;

-- name: clear_epoch_keys
DELETE FROM link_key AS k
 USING source_record AS r
 WHERE k.organisation = %(organisation)s::uuid AND r.organisation = %(organisation)s::uuid AND r.node = k.node
   AND r.kind = %(kind)s::text AND k.epoch = %(epoch)s::int;

-- name: ask_people
-- What people could be asked under the epoch now in force.
UPDATE edge AS e
   SET teaches = CASE WHEN ra.entity <> rb.entity AND e.bits >= %(review)s::real
                       AND NOT EXISTS (SELECT FROM link_decision AS d
                                        WHERE d.organisation = %(organisation)s::uuid AND d.a = e.a AND d.b = e.b)
                      THEN (least(ea.size + eb.size, 50) / (1 + abs(e.bits)))::real END
  FROM source_record AS ra, source_record AS rb, entity AS ea, entity AS eb
 WHERE e.organisation = %(organisation)s::uuid AND e.epoch = %(epoch)s::int
   AND ra.organisation = %(organisation)s::uuid AND ra.node = e.a AND ra.kind = %(kind)s::text
   AND rb.organisation = %(organisation)s::uuid AND rb.node = e.b
   AND ea.organisation = %(organisation)s::uuid AND ea.id = ra.entity
   AND eb.organisation = %(organisation)s::uuid AND eb.id = rb.entity;

-- name: erase_edges
DELETE FROM edge
 WHERE organisation = %(organisation)s::uuid AND (a = ANY(%(nodes)s::bigint[]) OR b = ANY(%(nodes)s::bigint[]));

-- name: erase_parts
DELETE FROM edge_part
 WHERE organisation = %(organisation)s::uuid AND (a = ANY(%(nodes)s::bigint[]) OR b = ANY(%(nodes)s::bigint[]));

-- name: erase_decisions
DELETE FROM link_decision
 WHERE organisation = %(organisation)s::uuid AND (a = ANY(%(nodes)s::bigint[]) OR b = ANY(%(nodes)s::bigint[]));

-- name: erase_keys
DELETE FROM link_key WHERE organisation = %(organisation)s::uuid AND node = ANY(%(nodes)s::bigint[]);

-- name: erase_mentions
-- What others were linked by may quote them.
UPDATE source_record SET evidence = NULL, linked_with = NULL
 WHERE organisation = %(organisation)s::uuid AND linked_with = ANY(%(nodes)s::bigint[]);

-- name: erase_letters
DELETE FROM record_dead_letter AS l
 USING unnest(%(sources)s::text[], %(source_ids)s::text[]) AS g (source, source_id)
 WHERE l.organisation = %(organisation)s::uuid AND l.source = g.source AND l.source_id = g.source_id;

-- name: erase_records
DELETE FROM source_record WHERE organisation = %(organisation)s::uuid AND node = ANY(%(nodes)s::bigint[]);

-- name: erase_entity
DELETE FROM entity
 WHERE organisation = %(organisation)s::uuid AND (id = %(entity)s::uuid OR merged_into = %(entity)s::uuid);

-- name: suppression_key
SELECT key_id, sealed FROM suppression_key WHERE organisation = %(organisation)s::uuid;

-- name: keep_suppression_key
INSERT INTO suppression_key (organisation, key_id, sealed)
VALUES (%(organisation)s::uuid, %(key_id)s::text, %(sealed)s::bytea)
    ON CONFLICT (organisation) DO NOTHING;

-- name: census
SELECT key_id, count(*) FROM suppression_key WHERE organisation = %(organisation)s::uuid GROUP BY key_id;

-- name: older
SELECT key_id, sealed FROM suppression_key
 WHERE organisation = %(organisation)s::uuid AND key_id <> %(key_id)s::text;

-- name: rewrap
UPDATE suppression_key SET key_id = %(key_id)s::text, sealed = %(sealed)s::bytea
 WHERE organisation = %(organisation)s::uuid AND key_id = %(old_key_id)s::text AND sealed = %(before)s::bytea;

-- name: wanting_faces
-- What names and addresses left open, once everything that came with it is written.
SELECT r.id, r.source, r.content
  FROM source_record AS r
  JOIN entity AS e ON e.organisation = %(organisation)s::uuid AND e.id = r.entity
 WHERE r.organisation = %(organisation)s::uuid AND r.source = ANY(%(of_sources)s::text[])
   AND r.looked_at IS NULL AND r.state = 'live'
   AND (e.size = 1 OR EXISTS (SELECT FROM edge AS t
                               WHERE t.organisation = %(organisation)s::uuid AND t.a = r.node AND t.teaches IS NOT NULL)
        OR EXISTS (SELECT FROM edge AS t
                    WHERE t.organisation = %(organisation)s::uuid AND t.b = r.node AND t.teaches IS NOT NULL))
   AND NOT EXISTS (SELECT FROM record_queue AS q WHERE q.organisation = %(organisation)s::uuid)
 LIMIT %(limit)s::int;

-- name: looked_at
UPDATE source_record SET looked_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND node = %(node)s::bigint;

-- name: add_part
INSERT INTO edge_part (organisation, a, b, field, bits, part)
VALUES (%(organisation)s::uuid, %(a)s::bigint, %(b)s::bigint, %(field)s::text, %(bits)s::real, %(part)s::text)
    ON CONFLICT (organisation, a, b, field) DO UPDATE SET bits = EXCLUDED.bits, part = EXCLUDED.part;

-- name: books
SELECT (SELECT count(*) FROM source_record WHERE organisation = %(organisation)s::uuid) AS records,
       (SELECT count(*) FROM entity WHERE organisation = %(organisation)s::uuid AND merged_into IS NULL) AS entities,
       (SELECT count(*) FROM source_record AS r
         WHERE r.organisation = %(organisation)s::uuid
           AND NOT EXISTS (SELECT FROM entity AS e
                            WHERE e.organisation = %(organisation)s::uuid AND e.id = r.entity AND e.merged_into IS NULL))
       AS misplaced,
       (SELECT count(*) FROM entity AS e
          LEFT JOIN (SELECT entity, count(*) AS size FROM source_record
                      WHERE organisation = %(organisation)s::uuid GROUP BY entity) AS made ON made.entity = e.id
         WHERE e.organisation = %(organisation)s::uuid AND e.size <> coalesce(made.size, 0)) AS miscounted,
       (SELECT count(*) FROM edge AS t
         WHERE t.organisation = %(organisation)s::uuid
           AND (NOT EXISTS (SELECT FROM source_record AS r
                             WHERE r.organisation = %(organisation)s::uuid AND r.node = t.a)
                OR NOT EXISTS (SELECT FROM source_record AS r
                                WHERE r.organisation = %(organisation)s::uuid AND r.node = t.b))) AS loose,
       (SELECT count(*) FROM record_batch AS b
         WHERE b.organisation = %(organisation)s::uuid AND b.left_over > 0
           AND NOT EXISTS (SELECT FROM record_queue AS q
                            WHERE q.organisation = %(organisation)s::uuid AND q.batch = b.id)) AS stranded;
