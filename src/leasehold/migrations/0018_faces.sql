-- Faces: vectors of pictures, for sources that opted in. In a schema of their own, so that rights, dumps and erasure can
-- treat them apart. Nothing in here needs pgvector until a model is first used: whoever never uses one need not have it.

CREATE SCHEMA faces;

-- A model as it was when it was first used here, and what the canary showed of it.
CREATE TABLE faces.model (
    organisation uuid NOT NULL,
    -- Of its weights, and of how pictures are prepared for it. Vectors are compared within one of these alone.
    digest bytea NOT NULL CHECK (length(digest) = 32),
    name text NOT NULL,
    dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
    metric text NOT NULL CHECK (metric IN ('cosine', 'l2')),
    calibration jsonb NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, digest)
);

-- That a record's pictures are or were looked at.
CREATE TABLE faces.look (
    organisation uuid NOT NULL,
    record uuid NOT NULL,
    source text NOT NULL,
    -- Of all models together.
    setup bytea NOT NULL CHECK (length(setup) = 32),
    -- Who is at it, and until when it is theirs alone.
    holder uuid,
    held_until timestamptz,
    looked_at timestamptz,
    -- What became of each picture.
    counts jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (organisation, record),
    CHECK ((holder IS NULL) = (held_until IS NULL))
);

CREATE TABLE faces.face (
    organisation uuid NOT NULL,
    record uuid NOT NULL,
    model bytea NOT NULL,
    -- The picture's SHA-256; the picture itself is not kept, unless its source says so.
    image bytea NOT NULL CHECK (length(image) = 32),
    source text NOT NULL,
    dimension integer NOT NULL,
    -- Whole: what an index makes of it is half as precise, and only proposes.
    vector real[] NOT NULL CHECK (cardinality(vector) = dimension),
    quality real NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- What its source may be kept for is over then, whatever the configuration says by that time.
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (organisation, record, model, image),
    FOREIGN KEY (organisation, model) REFERENCES faces.model
) WITH (toast_tuple_target = 4080); -- 512 numbers stay where the row is
CREATE INDEX face_of_model ON faces.face (organisation, model);
CREATE INDEX face_by_end ON faces.face (organisation, expires_at);

-- Pictures, of sources that keep them.
CREATE TABLE faces.image (
    organisation uuid NOT NULL,
    record uuid NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    source text NOT NULL,
    content_type text NOT NULL,
    content bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (organisation, record, digest)
);
CREATE INDEX image_by_end ON faces.image (organisation, expires_at);

ALTER TABLE faces.model ENABLE ROW LEVEL SECURITY;
ALTER TABLE faces.model FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON faces.model TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE faces.look ENABLE ROW LEVEL SECURITY;
ALTER TABLE faces.look FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON faces.look TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE faces.face ENABLE ROW LEVEL SECURITY;
ALTER TABLE faces.face FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON faces.face TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE faces.image ENABLE ROW LEVEL SECURITY;
ALTER TABLE faces.image FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON faces.image TO leasehold_app USING (organisation = current_organisation());

GRANT USAGE ON SCHEMA faces TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON faces.model TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON faces.look TO leasehold_app;
GRANT SELECT, INSERT, UPDATE (expires_at), DELETE ON faces.face TO leasehold_app;
GRANT SELECT, INSERT, UPDATE (expires_at), DELETE ON faces.image TO leasehold_app;

-- Where pgvector is; NULL when this database has it not.
CREATE FUNCTION faces.pgvector() RETURNS text
    LANGUAGE sql STABLE
AS $$
    SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
$$;

-- What one model's vectors are found by. The owner makes it, once, before the model's first vector: an index has a fixed
-- number of dimensions, which no migration can know.
CREATE FUNCTION faces.prepare(wanted bytea, dimension integer, metric text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    index_name text := 'face_near_' || encode(substring(wanted FOR 12), 'hex');
    home text;
BEGIN
    IF length(wanted) <> 32 OR dimension NOT BETWEEN 1 AND 4000 OR metric NOT IN ('cosine', 'l2') THEN
        RAISE EXCEPTION 'no such model can be prepared' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF to_regclass('faces.' || index_name) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('leasehold.faces', 0));
    IF faces.pgvector() IS NULL THEN
        CREATE EXTENSION vector SCHEMA public;
    END IF;
    home := faces.pgvector();
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS %I ON faces.face USING hnsw ((vector::%I.halfvec(%s)) %I.%I) WHERE model = %L::bytea',
        index_name, home, dimension, home, CASE metric WHEN 'cosine' THEN 'halfvec_cosine_ops' ELSE 'halfvec_l2_ops' END,
        wanted);
END
$$;
REVOKE ALL ON FUNCTION faces.prepare FROM PUBLIC;
GRANT EXECUTE ON FUNCTION faces.prepare TO leasehold_app;

-- The nearest of an organisation's vectors of one model, other than the record's own. Up to `exact_up_to` of them are all
-- looked at; above that an index proposes, which may miss some.
CREATE FUNCTION faces.near(org uuid, wanted bytea, own uuid, probe real[], many integer, exact_up_to integer)
    RETURNS TABLE (record uuid, distance double precision)
    LANGUAGE plpgsql
AS $$
DECLARE
    home text := faces.pgvector();
    shape integer;
    sign text;
    is_few boolean;
BEGIN
    SELECT m.dimension, CASE m.metric WHEN 'cosine' THEN '<=>' ELSE '<->' END INTO shape, sign
      FROM faces.model m WHERE m.organisation = org AND m.digest = wanted;
    IF shape IS NULL THEN
        RETURN;
    END IF;
    SELECT count(*) <= exact_up_to INTO is_few
      FROM (SELECT FROM faces.face f WHERE f.organisation = org AND f.model = wanted LIMIT exact_up_to + 1) AS first_ones;
    -- Others' vectors are in the same index, and it goes on until enough of ours are found.
    PERFORM set_config('hnsw.ef_search', '100', true), set_config('hnsw.iterative_scan', 'relaxed_order', true);
    -- What is sorted was all looked at, which is what an index is there to avoid.
    PERFORM set_config('enable_sort', CASE WHEN is_few THEN 'on' ELSE 'off' END, true);
    -- Without the number of dimensions the expression is not the index's: every row is looked at.
    RETURN QUERY EXECUTE format(
        'SELECT f.record, (f.vector::%1$I.halfvec%2$s OPERATOR(%1$I.%3$s) $1::%1$I.halfvec%2$s)::float8'
        '  FROM faces.face f WHERE f.organisation = $2 AND f.model = %4$L::bytea AND f.record <> $3'
        ' ORDER BY f.vector::%1$I.halfvec%2$s OPERATOR(%1$I.%3$s) $1::%1$I.halfvec%2$s LIMIT $4',
        home, CASE WHEN is_few THEN '' ELSE format('(%s)', shape) END, sign, wanted)
        USING probe, org, own, many;
    PERFORM set_config('enable_sort', 'on', true);
END
$$;

INSERT INTO schema_mark (name) VALUES ('0018_faces');
