-- name: write
-- Each chunk whole. What is there under a name stands: the same chunk may be written twice, never differently.
INSERT INTO result (task, organisation, space, key, number, place, document)
SELECT g.task, %(organisation)s::uuid, %(space)s::text, g.key, g.number, d.place, d.document
  FROM unnest(%(tasks)s::uuid[], %(marks)s::bytea[], %(numbers)s::bigint[], %(chunks)s::text[])
       AS g (task, key, number, chunk)
 CROSS JOIN LATERAL jsonb_array_elements(g.chunk::jsonb) WITH ORDINALITY AS d (document, place)
    ON CONFLICT DO NOTHING;

-- name: read
SELECT r.task, r.number, r.place, r.document
  FROM result r
 WHERE r.organisation = %(organisation)s::uuid AND r.space = %(space)s::text AND r.task = ANY(%(tasks)s::uuid[])
   AND (%(after)s::bigint IS NULL OR (r.number, r.place) > (%(after)s::bigint, %(after_place)s::int))
 ORDER BY r.number, r.place
 LIMIT %(limit)s::int;

-- name: chunks
SELECT r.task, r.key, r.document
  FROM result r
  JOIN unnest(%(tasks)s::uuid[], %(marks)s::bytea[]) AS g (task, key) ON r.task = g.task AND r.key = g.key
 WHERE r.organisation = %(organisation)s::uuid AND r.space = %(space)s::text
 ORDER BY r.task, r.key, r.place;

-- name: documents
SELECT r.task, r.document
  FROM result r
 WHERE r.organisation = %(organisation)s::uuid AND r.space = %(space)s::text AND r.task = ANY(%(tasks)s::uuid[])
 ORDER BY r.task, r.number, r.place;
