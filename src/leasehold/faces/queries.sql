-- name: prepare
SELECT faces.prepare(%(model)s::bytea, %(dimension)s::int, %(metric)s::text);

-- name: keep_model
-- The latest calibration stands: the canary may have grown.
INSERT INTO faces.model (organisation, digest, name, dimension, metric, calibration)
VALUES (%(organisation)s::uuid, %(model)s::bytea, %(name)s::text, %(dimension)s::int, %(metric)s::text,
        %(calibration)s::jsonb)
ON CONFLICT (organisation, digest) DO UPDATE SET calibration = excluded.calibration, name = excluded.name;

-- name: take
-- Ours to look at for a while, unless somebody is at it. Whoever died at it had it for no longer than that.
INSERT INTO faces.look AS l (organisation, record, source, setup, holder, held_until)
VALUES (%(organisation)s::uuid, %(record)s::uuid, %(of_source)s::text, %(setup)s::bytea, %(holder)s::uuid,
        clock_timestamp() + %(hold_s)s::int * interval '1 second')
ON CONFLICT (organisation, record) DO UPDATE
   SET holder = excluded.holder, held_until = excluded.held_until, setup = excluded.setup, source = excluded.source
 WHERE l.held_until IS NULL OR l.held_until <= clock_timestamp()
RETURNING l.record;

-- name: finish
-- Nothing is found when it was erased meanwhile, or is somebody else's by now.
UPDATE faces.look l
   SET holder = NULL, held_until = NULL, looked_at = clock_timestamp(), counts = %(counted)s::jsonb
 WHERE l.organisation = %(organisation)s::uuid AND l.record = %(record)s::uuid AND l.holder = %(holder)s::uuid
RETURNING l.record;

-- name: keep_face
-- As many as a record may have of a model, and each picture once. Models are counted apart after the fact: asked for in
-- the WHERE, a table without statistics would be read through an index that has all of a model.
INSERT INTO faces.face (organisation, record, model, image, source, dimension, vector, quality, expires_at)
SELECT %(organisation)s::uuid, %(record)s::uuid, %(model)s::bytea, %(image)s::bytea, %(of_source)s::text,
       %(dimension)s::int, %(vector)s::real[], %(quality)s::real, clock_timestamp() + %(days)s::int * interval '1 day'
 WHERE (SELECT count(*) FILTER (WHERE f.model = %(model)s::bytea)
          FROM faces.face f
         WHERE f.organisation = %(organisation)s::uuid AND f.record = %(record)s::uuid) < %(most)s::int
ON CONFLICT (organisation, record, model, image) DO NOTHING;

-- name: keep_image
INSERT INTO faces.image (organisation, record, digest, source, content_type, content, expires_at)
VALUES (%(organisation)s::uuid, %(record)s::uuid, %(image)s::bytea, %(of_source)s::text, %(content_type)s::text,
        %(content)s::bytea, clock_timestamp() + %(days)s::int * interval '1 day')
ON CONFLICT (organisation, record, digest) DO NOTHING;

-- name: vectors
-- Every vector of some records.
SELECT f.record, f.model, f.image, f.vector
  FROM faces.face f
 WHERE f.organisation = %(organisation)s::uuid AND f.record = ANY(%(records)s::uuid[])
 ORDER BY f.record, f.model, f.image;

-- name: near
SELECT n.record, n.distance
  FROM faces.near(%(organisation)s::uuid, %(model)s::bytea, %(record)s::uuid, %(vector)s::real[], %(limit)s::int,
                  %(exact_up_to)s::int) n;

-- name: erase_looks
DELETE FROM faces.look l WHERE l.organisation = %(organisation)s::uuid AND l.record = ANY(%(records)s::uuid[]);

-- name: erase_faces
DELETE FROM faces.face f WHERE f.organisation = %(organisation)s::uuid AND f.record = ANY(%(records)s::uuid[]);

-- name: erase_images
DELETE FROM faces.image i WHERE i.organisation = %(organisation)s::uuid AND i.record = ANY(%(records)s::uuid[]);

-- name: limit_faces
-- A source may be kept for a shorter time than it was; never for a longer one.
UPDATE faces.face f
   SET expires_at = f.created_at + %(days)s::int * interval '1 day'
 WHERE f.organisation = %(organisation)s::uuid AND f.source = %(of_source)s::text
   AND f.expires_at > f.created_at + %(days)s::int * interval '1 day';

-- name: limit_images
UPDATE faces.image i
   SET expires_at = i.created_at + %(days)s::int * interval '1 day'
 WHERE i.organisation = %(organisation)s::uuid AND i.source = %(of_source)s::text
   AND i.expires_at > i.created_at + %(days)s::int * interval '1 day';

-- name: drop_faces
-- Of sources that opted out again nothing stays.
DELETE FROM faces.face f
 WHERE f.organisation = %(organisation)s::uuid AND f.source <> ALL(%(sources)s::text[]);

-- name: drop_images
-- The same, and of sources that do not keep pictures any more.
DELETE FROM faces.image i
 WHERE i.organisation = %(organisation)s::uuid AND i.source <> ALL(%(sources)s::text[]);

-- name: expire_faces
DELETE FROM faces.face f
 WHERE f.organisation = %(organisation)s::uuid AND f.expires_at <= statement_timestamp();

-- name: expire_images
DELETE FROM faces.image i
 WHERE i.organisation = %(organisation)s::uuid AND i.expires_at <= statement_timestamp();
