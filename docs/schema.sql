-- The whole schema, for readers; made from the migrations by `make generated`.

CREATE SCHEMA faces;

CREATE FUNCTION faces.near(org uuid, wanted bytea, own uuid, probe real[], many integer, exact_up_to integer) RETURNS TABLE(record uuid, distance double precision)
    LANGUAGE plpgsql
    AS $_$
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
$_$;

CREATE FUNCTION faces.pgvector() RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
$$;

CREATE FUNCTION faces.prepare(wanted bytea, dimension integer, metric text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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

CREATE TABLE public.audit_event (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor uuid,
    actor_name text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    request_id text,
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
    era integer DEFAULT 1 NOT NULL
);

ALTER TABLE ONLY public.audit_event FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.audit_era() RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT (pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid))::integer AS pg_get_expr FROM (pg_attrdef JOIN pg_attribute ON (((pg_attribute.attrelid = pg_attrdef.adrelid) AND (pg_attribute.attnum = pg_attrdef.adnum)))) WHERE ((pg_attrdef.adrelid = ('public.audit_event'::regclass)::oid) AND (pg_attribute.attname = 'era'::name)));

CREATE FUNCTION public.current_organisation() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('leasehold.organisation'::text, true), ''::text))::uuid;

CREATE FUNCTION public.lower_seed_beds() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO seed_bed AS bed (organisation, site, priority, head_due_at)
    SELECT organisation, site, priority, min(next_due_at)
      FROM changed
     WHERE enabled AND lease IS NULL
     GROUP BY organisation, site, priority
     ORDER BY organisation, site, priority
    ON CONFLICT (organisation, site, priority) DO UPDATE SET head_due_at = excluded.head_due_at
     WHERE bed.head_due_at > excluded.head_due_at;
    RETURN NULL;
END $$;

CREATE FUNCTION public.platform_limit_now(slug text, OUT concurrency integer, OUT rate_tasks integer, OUT rate_per_s double precision, OUT rate_burst integer, OUT since timestamp with time zone, OUT until timestamp with time zone) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    SELECT p.concurrency, p.rate_tasks, p.rate_per_s, p.rate_burst, p.since, p.until
      FROM platform_limit p
     WHERE p.platform = slug AND (p.until IS NULL OR p.until > clock_timestamp())
     ORDER BY p.since DESC
     LIMIT 1;
$$;

CREATE FUNCTION public.platform_load(slug text, OUT in_hand integer, OUT waiting integer) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    WITH RECURSIVE step AS (
        (SELECT organisation FROM task WHERE platform = slug AND status = 'pending' ORDER BY organisation LIMIT 1)
        UNION ALL
        SELECT (SELECT t.organisation
                  FROM task t
                 WHERE t.platform = slug AND t.status = 'pending' AND t.organisation > step.organisation
                 ORDER BY t.organisation
                 LIMIT 1)
          FROM step
         WHERE step.organisation IS NOT NULL
    )
    SELECT (SELECT count(*)::int FROM task WHERE platform = slug AND lease IS NOT NULL),
           (SELECT count(*)::int
              FROM step
             WHERE EXISTS (SELECT
                             FROM task t
                            WHERE t.organisation = step.organisation AND t.platform = slug AND t.status = 'pending'
                              AND t.not_before <= statement_timestamp() AND t.deadline_at > statement_timestamp())
               AND NOT EXISTS (SELECT
                                 FROM platform_pause p
                                WHERE p.organisation = step.organisation AND p.platform = slug)
               AND NOT EXISTS (SELECT
                                 FROM platform_breaker b
                                WHERE b.organisation = step.organisation AND b.platform = slug
                                  AND b.probe_at > statement_timestamp()));
$$;

CREATE FUNCTION public.platform_queued_since(slug text, depth integer) RETURNS timestamp with time zone
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    SELECT coalesce((SELECT published_at
                       FROM task
                      WHERE platform = slug AND lease IS NOT NULL AND status = 'dispatched' AND published_at IS NOT NULL
                      ORDER BY published_at DESC
                     OFFSET greatest(depth, 1) - 1
                      LIMIT 1),
                    '-infinity');
$$;

CREATE FUNCTION public.platform_rate_left(slug text, apart_s double precision, burst integer) RETURNS double precision
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $_$
    SELECT coalesce(max(greatest(0, CASE
               WHEN r.taken_at IS NULL THEN extract(epoch FROM r.next_at - clock_timestamp())
               ELSE least(extract(epoch FROM r.next_at - r.taken_at) / r.apart_s, $3) * $2
                    - extract(epoch FROM clock_timestamp() - r.taken_at) END)), 0)::float8
      FROM platform_rate r
     WHERE r.platform = slug;
$_$;

CREATE FUNCTION public.platform_rate_room(slug text, apart_s double precision, burst integer, OUT room integer, OUT in_s double precision) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $_$
    SELECT greatest(0, floor(burst - left_s / $2))::int, greatest(0, left_s - (burst - 1) * $2)
      FROM (SELECT platform_rate_left(slug, $2, burst) AS left_s OFFSET 0) AS rate;
$_$;

CREATE FUNCTION public.platform_rate_take(slug text, apart_s double precision, many integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public'
    AS $_$
    SELECT platform_rate_take(slug, $2, 1000000, many);
$_$;

CREATE FUNCTION public.platform_rate_take(slug text, apart_s double precision, burst integer, many integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public'
    AS $_$
    INSERT INTO platform_rate AS r (platform, next_at, taken_at, apart_s)
    SELECT slug, now.at + (platform_rate_left(slug, $2, burst) + many * $2) * interval '1 second', now.at, $2
      FROM (SELECT clock_timestamp() AS at OFFSET 0) AS now
        ON CONFLICT (platform) DO UPDATE
       SET next_at = excluded.next_at, taken_at = excluded.taken_at, apart_s = excluded.apart_s;
$_$;

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TABLE faces.face (
    organisation uuid NOT NULL,
    record uuid NOT NULL,
    model bytea NOT NULL,
    image bytea NOT NULL,
    source text NOT NULL,
    dimension integer NOT NULL,
    vector real[] NOT NULL,
    quality real NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT face_check CHECK ((cardinality(vector) = dimension)),
    CONSTRAINT face_image_check CHECK ((length(image) = 32))
)
WITH (toast_tuple_target='4080');

ALTER TABLE ONLY faces.face FORCE ROW LEVEL SECURITY;

CREATE TABLE faces.image (
    organisation uuid NOT NULL,
    record uuid NOT NULL,
    digest bytea NOT NULL,
    source text NOT NULL,
    content_type text NOT NULL,
    content bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT image_digest_check CHECK ((length(digest) = 32))
);

ALTER TABLE ONLY faces.image FORCE ROW LEVEL SECURITY;

CREATE TABLE faces.look (
    organisation uuid NOT NULL,
    record uuid NOT NULL,
    source text NOT NULL,
    setup bytea NOT NULL,
    holder uuid,
    held_until timestamp with time zone,
    looked_at timestamp with time zone,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT look_check CHECK (((holder IS NULL) = (held_until IS NULL))),
    CONSTRAINT look_setup_check CHECK ((length(setup) = 32))
);

ALTER TABLE ONLY faces.look FORCE ROW LEVEL SECURITY;

CREATE TABLE faces.model (
    organisation uuid NOT NULL,
    digest bytea NOT NULL,
    name text NOT NULL,
    dimension integer NOT NULL,
    metric text NOT NULL,
    calibration jsonb NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT model_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT model_dimension_check CHECK (((dimension >= 1) AND (dimension <= 4000))),
    CONSTRAINT model_metric_check CHECK ((metric = ANY (ARRAY['cosine'::text, 'l2'::text])))
);

ALTER TABLE ONLY faces.model FORCE ROW LEVEL SECURITY;

CREATE TABLE public.account (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    site text NOT NULL,
    username text NOT NULL,
    standing text DEFAULT 'active'::text NOT NULL,
    blocked_reason text,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    unclean_ends integer DEFAULT 0 NOT NULL,
    on_probation boolean DEFAULT false NOT NULL,
    needs_login boolean DEFAULT false NOT NULL,
    cooling_until timestamp with time zone,
    last_leased_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    last_outcome text,
    last_outcome_at timestamp with time zone,
    before_penalty jsonb,
    fence bigint DEFAULT 0 NOT NULL,
    fence_base bigint DEFAULT 0 NOT NULL,
    lease uuid,
    back_at timestamp with time zone,
    moved boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    session_rev integer DEFAULT 0 NOT NULL,
    session_version integer DEFAULT 0 NOT NULL,
    has_session boolean DEFAULT false NOT NULL,
    CONSTRAINT account_check CHECK (((standing = 'blocked'::text) = (blocked_reason IS NOT NULL))),
    CONSTRAINT account_standing_check CHECK ((standing = ANY (ARRAY['active'::text, 'inactive'::text, 'blocked'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');

ALTER TABLE ONLY public.account FORCE ROW LEVEL SECURITY;

CREATE TABLE public.lease (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    resource uuid NOT NULL,
    site text,
    owner text NOT NULL,
    token uuid,
    job_id text,
    fence bigint NOT NULL,
    ttl_seconds integer NOT NULL,
    acquired_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    moved boolean DEFAULT false NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');

ALTER TABLE ONLY public.lease FORCE ROW LEVEL SECURITY;

CREATE VIEW public.account_now WITH (security_invoker='true') AS
 SELECT organisation,
    id,
    site,
    username,
    state,
    standing,
    blocked_reason,
    labels,
    priority,
        CASE
            WHEN (state = 'cooling'::text) THEN cooling_until
            ELSE NULL::timestamp with time zone
        END AS cooling_until,
    consecutive_failures,
    unclean_ends,
    on_probation,
    needs_login,
    NULLIF(last_leased_at, '-infinity'::timestamp with time zone) AS last_leased_at,
    last_outcome,
    last_outcome_at,
    created_at,
    updated_at,
        CASE
            WHEN (state = 'using'::text) THEN owner
            ELSE NULL::text
        END AS holder,
        CASE
            WHEN (state = 'using'::text) THEN lease
            ELSE NULL::uuid
        END AS lease_id,
        CASE
            WHEN (state = 'using'::text) THEN expires_at
            ELSE NULL::timestamp with time zone
        END AS expires_at,
    has_session
   FROM ( SELECT a.id,
            a.organisation,
            a.site,
            a.username,
            a.standing,
            a.blocked_reason,
            a.labels,
            a.priority,
            a.consecutive_failures,
            a.unclean_ends,
            a.on_probation,
            a.needs_login,
            a.cooling_until,
            a.last_leased_at,
            a.last_outcome,
            a.last_outcome_at,
            a.before_penalty,
            a.fence,
            a.fence_base,
            a.lease,
            a.back_at,
            a.moved,
            a.created_at,
            a.updated_at,
            a.session_rev,
            a.session_version,
            a.has_session,
            l.owner,
            l.expires_at,
                CASE
                    WHEN (l.expires_at > clock_timestamp()) THEN 'using'::text
                    WHEN (a.standing <> 'active'::text) THEN a.standing
                    WHEN (a.cooling_until > clock_timestamp()) THEN 'cooling'::text
                    ELSE 'active'::text
                END AS state
           FROM (public.account a
             LEFT JOIN public.lease l ON ((l.id = a.lease)))
          WHERE (NOT a.moved)) here;

CREATE TABLE public.account_secret (
    account uuid NOT NULL,
    organisation uuid NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL
);

ALTER TABLE ONLY public.account_secret FORCE ROW LEVEL SECURITY;

CREATE TABLE public.alert (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    platform text,
    reason text,
    count integer NOT NULL,
    job_ids text[] NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT alert_count_check CHECK ((count >= 1))
);

ALTER TABLE ONLY public.alert FORCE ROW LEVEL SECURITY;

CREATE TABLE public.alert_message (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    platform text,
    reason text,
    count integer NOT NULL,
    job_ids text[] NOT NULL,
    at timestamp with time zone NOT NULL,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    sent_at timestamp with time zone
);

ALTER TABLE ONLY public.alert_message FORCE ROW LEVEL SECURITY;

CREATE TABLE public.artifact (
    name text NOT NULL,
    schema text NOT NULL,
    version integer NOT NULL,
    path text NOT NULL,
    edition bigint NOT NULL,
    published_at timestamp with time zone NOT NULL,
    bytes bigint NOT NULL,
    etag text NOT NULL
);

ALTER TABLE ONLY public.artifact FORCE ROW LEVEL SECURITY;

CREATE TABLE public.audit_seal (
    organisation uuid NOT NULL,
    seq bigint NOT NULL,
    era integer NOT NULL,
    xact xid8 NOT NULL,
    event uuid NOT NULL,
    events integer NOT NULL,
    at timestamp with time zone NOT NULL,
    digest bytea NOT NULL
);

ALTER TABLE ONLY public.audit_seal FORCE ROW LEVEL SECURITY;

CREATE TABLE public.blob (
    organisation uuid NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    in_use boolean DEFAULT false NOT NULL,
    claimed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT blob_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT blob_size_check CHECK ((size >= 0))
);

ALTER TABLE ONLY public.blob FORCE ROW LEVEL SECURITY;

CREATE TABLE public.capture (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    site text NOT NULL,
    url text NOT NULL,
    sub text,
    rest text,
    captured_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seed uuid,
    account uuid,
    job_id text,
    source_lease uuid,
    late boolean NOT NULL,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    size bigint NOT NULL,
    standing text DEFAULT 'received'::text NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    reason text,
    fence bigint DEFAULT 0 NOT NULL,
    lease uuid,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT capture_check CHECK (((sub IS NULL) = (rest IS NULL))),
    CONSTRAINT capture_check1 CHECK (((lease IS NULL) OR (standing = 'received'::text))),
    CONSTRAINT capture_standing_check CHECK ((standing = ANY (ARRAY['received'::text, 'delivered'::text, 'rejected'::text, 'stuck'::text])))
)
WITH (fillfactor='85');

ALTER TABLE ONLY public.capture FORCE ROW LEVEL SECURITY;

CREATE TABLE public.capture_file (
    capture uuid NOT NULL,
    organisation uuid NOT NULL,
    place integer NOT NULL,
    name text NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    content_type text NOT NULL,
    deduplicated boolean NOT NULL
);

ALTER TABLE ONLY public.capture_file FORCE ROW LEVEL SECURITY;

CREATE VIEW public.capture_now WITH (security_invoker='true') AS
 SELECT c.organisation,
    c.id,
    c.site,
    c.url,
    c.sub,
    c.rest,
    c.captured_at,
    c.received_at,
    c.seed,
    c.account,
    c.job_id,
    c.source_lease,
    c.late,
    c.labels,
    c.size,
    c.updated_at,
        CASE
            WHEN (l.expires_at > clock_timestamp()) THEN 'claimed'::text
            WHEN ((l.id IS NOT NULL) AND ((c.failures + 1) >= 5)) THEN 'stuck'::text
            ELSE c.standing
        END AS state,
    (c.failures + (((l.expires_at <= clock_timestamp()) IS TRUE))::integer) AS failures,
    c.reason,
        CASE
            WHEN (l.expires_at > clock_timestamp()) THEN l.owner
            ELSE NULL::text
        END AS holder,
        CASE
            WHEN (l.expires_at > clock_timestamp()) THEN l.id
            ELSE NULL::uuid
        END AS lease_id,
        CASE
            WHEN (l.expires_at > clock_timestamp()) THEN l.expires_at
            ELSE NULL::timestamp with time zone
        END AS expires_at
   FROM (public.capture c
     LEFT JOIN public.lease l ON ((l.id = c.lease)));

CREATE TABLE public.clock_jump (
    id bigint NOT NULL,
    store text NOT NULL,
    noticed_at timestamp with time zone NOT NULL,
    seconds double precision NOT NULL,
    leases integer NOT NULL,
    CONSTRAINT clock_jump_store_check CHECK ((store = ANY (ARRAY['postgres'::text, 'mongo'::text])))
);

ALTER TABLE ONLY public.clock_jump FORCE ROW LEVEL SECURITY;

ALTER TABLE public.clock_jump ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.clock_jump_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.dead_letter (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    platform text,
    job text,
    task uuid,
    attempt integer,
    reason text NOT NULL,
    detail text,
    payload jsonb NOT NULL,
    replayed_at timestamp with time zone,
    replay uuid
);

ALTER TABLE ONLY public.dead_letter FORCE ROW LEVEL SECURITY;

CREATE TABLE public.document_seen (
    task uuid NOT NULL,
    organisation uuid NOT NULL,
    identity bytea NOT NULL,
    CONSTRAINT document_seen_identity_check CHECK ((length(identity) = 16))
);

ALTER TABLE ONLY public.document_seen FORCE ROW LEVEL SECURITY;

CREATE TABLE public.edge (
    organisation uuid NOT NULL,
    a bigint NOT NULL,
    b bigint NOT NULL,
    epoch integer NOT NULL,
    bits real NOT NULL,
    step text NOT NULL,
    teaches real,
    CONSTRAINT edge_check CHECK ((a < b))
);

ALTER TABLE ONLY public.edge FORCE ROW LEVEL SECURITY;

CREATE TABLE public.edge_part (
    organisation uuid NOT NULL,
    a bigint NOT NULL,
    b bigint NOT NULL,
    field text NOT NULL,
    bits real NOT NULL,
    part text NOT NULL,
    CONSTRAINT edge_part_check CHECK ((a < b))
);

ALTER TABLE ONLY public.edge_part FORCE ROW LEVEL SECURITY;

CREATE TABLE public.entity (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key text,
    aliases text[] DEFAULT '{}'::text[] NOT NULL,
    external_ids jsonb DEFAULT '{}'::jsonb NOT NULL,
    urls jsonb DEFAULT '{}'::jsonb NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    times_seen bigint DEFAULT 0 NOT NULL,
    first_seen_run uuid,
    last_seen_run uuid,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    founder bigint,
    size integer DEFAULT 0 NOT NULL,
    merged_into uuid
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.entity FORCE ROW LEVEL SECURITY;

CREATE TABLE public.entity_change (
    organisation uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    entity uuid NOT NULL,
    change text NOT NULL,
    actor text NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT entity_change_change_check CHECK ((change = ANY (ARRAY['created'::text, 'updated'::text, 'merged'::text, 'split'::text, 'moved'::text, 'erased'::text, 'removed'::text])))
);

ALTER TABLE ONLY public.entity_change FORCE ROW LEVEL SECURITY;

ALTER TABLE public.entity_change ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.entity_change_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.external_file (
    capture uuid NOT NULL,
    organisation uuid NOT NULL,
    place integer NOT NULL,
    name text NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    content_type text NOT NULL,
    location text,
    CONSTRAINT external_file_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT external_file_size_check CHECK ((size >= 0))
);

ALTER TABLE ONLY public.external_file FORCE ROW LEVEL SECURITY;

CREATE TABLE public.graph_count (
    organisation uuid NOT NULL,
    source text NOT NULL,
    name text NOT NULL,
    count bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.graph_count FORCE ROW LEVEL SECURITY;

CREATE TABLE public.graph_writer (
    organisation uuid NOT NULL,
    holder uuid,
    fence bigint DEFAULT 0 NOT NULL,
    until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    generation bigint DEFAULT 0 NOT NULL,
    changes bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.graph_writer FORCE ROW LEVEL SECURITY;

CREATE TABLE public.idempotency_key (
    organisation uuid NOT NULL,
    token uuid NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    body_digest bytea NOT NULL,
    resource text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    recalled integer DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.idempotency_key FORCE ROW LEVEL SECURITY;

CREATE TABLE public.job (
    organisation uuid NOT NULL,
    id text NOT NULL,
    task_type text NOT NULL,
    platforms text[] NOT NULL,
    payload jsonb NOT NULL,
    time_range jsonb,
    priority smallint NOT NULL,
    trace_ctx jsonb,
    metadata jsonb,
    run_id text,
    more jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    deadline_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    has_leases boolean DEFAULT false NOT NULL,
    CONSTRAINT job_check CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['pending'::text, 'dispatched'::text, 'processing'::text])))),
    CONSTRAINT job_id_check CHECK (((length(id) >= 1) AND (length(id) <= 200))),
    CONSTRAINT job_platforms_check CHECK ((cardinality(platforms) >= 1)),
    CONSTRAINT job_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
    CONSTRAINT job_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'dispatched'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'timed_out'::text, 'partial'::text, 'cancelled'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.job FORCE ROW LEVEL SECURITY;

CREATE TABLE public.lease_end (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    resource uuid NOT NULL,
    site text,
    owner text NOT NULL,
    token uuid,
    job_id text,
    fence bigint NOT NULL,
    acquired_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    how text NOT NULL,
    outcome text,
    reason text,
    CONSTRAINT lease_end_how_check CHECK ((how = ANY (ARRAY['released'::text, 'expired'::text, 'revoked'::text, 'superseded'::text])))
);

ALTER TABLE ONLY public.lease_end FORCE ROW LEVEL SECURITY;

CREATE TABLE public.legacy_item (
    organisation uuid NOT NULL,
    kind text NOT NULL,
    legacy_id text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL,
    site text,
    capture uuid,
    event uuid,
    addresses integer DEFAULT 0 NOT NULL,
    digest bytea NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT legacy_item_check CHECK ((num_nonnulls(site, capture, event) = 1)),
    CONSTRAINT legacy_item_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT legacy_item_kind_check CHECK ((kind = ANY (ARRAY['site'::text, 'capture'::text, 'event'::text])))
);

ALTER TABLE ONLY public.legacy_item FORCE ROW LEVEL SECURITY;

CREATE TABLE public.legacy_run (
    organisation uuid NOT NULL,
    source bytea NOT NULL,
    step integer NOT NULL,
    phase text NOT NULL,
    "position" text,
    tallies jsonb NOT NULL,
    report_bytes bigint NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.legacy_run FORCE ROW LEVEL SECURITY;

CREATE TABLE public.link_decision (
    organisation uuid NOT NULL,
    a bigint NOT NULL,
    b bigint NOT NULL,
    decision text NOT NULL,
    actor text NOT NULL,
    reason text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT link_decision_check CHECK ((a < b)),
    CONSTRAINT link_decision_decision_check CHECK ((decision = ANY (ARRAY['same'::text, 'different'::text, 'unsure'::text])))
);

ALTER TABLE ONLY public.link_decision FORCE ROW LEVEL SECURITY;

CREATE TABLE public.link_epoch (
    organisation uuid NOT NULL,
    kind text NOT NULL,
    number integer NOT NULL,
    version text NOT NULL,
    origin text NOT NULL,
    state text NOT NULL,
    parameters jsonb NOT NULL,
    records bigint DEFAULT 0 NOT NULL,
    difference jsonb,
    reached bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    current_at timestamp with time zone,
    CONSTRAINT link_epoch_origin_check CHECK ((origin = ANY (ARRAY['configured'::text, 'learned'::text]))),
    CONSTRAINT link_epoch_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'moving'::text, 'current'::text, 'past'::text, 'dropped'::text])))
);

ALTER TABLE ONLY public.link_epoch FORCE ROW LEVEL SECURITY;

CREATE TABLE public.link_key (
    organisation uuid NOT NULL,
    key bigint NOT NULL,
    node bigint NOT NULL,
    epoch integer NOT NULL
);

ALTER TABLE ONLY public.link_key FORCE ROW LEVEL SECURITY;

CREATE TABLE public.live_ticket (
    digest bytea NOT NULL,
    organisation uuid NOT NULL,
    token uuid,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT live_ticket_digest_check CHECK ((length(digest) = 32))
);

ALTER TABLE ONLY public.live_ticket FORCE ROW LEVEL SECURITY;

CREATE TABLE public.mount (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    site text NOT NULL,
    host text NOT NULL,
    scheme text NOT NULL,
    port integer,
    prefix text NOT NULL,
    subdomains text NOT NULL,
    fold text[] NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    trust text NOT NULL,
    current boolean NOT NULL,
    CONSTRAINT mount_check CHECK (((trust <> 'observed'::text) OR (NOT current))),
    CONSTRAINT mount_port_check CHECK (((port >= 1) AND (port <= 65535))),
    CONSTRAINT mount_prefix_check CHECK (((prefix ~~ '/%'::text) AND (prefix ~~ '%/'::text))),
    CONSTRAINT mount_scheme_check CHECK ((scheme = ANY (ARRAY['http'::text, 'https'::text]))),
    CONSTRAINT mount_subdomains_check CHECK ((subdomains = ANY (ARRAY['keep'::text, 'none'::text]))),
    CONSTRAINT mount_trust_check CHECK ((trust = ANY (ARRAY['observed'::text, 'urls'::text, 'credentials'::text])))
);

ALTER TABLE ONLY public.mount FORCE ROW LEVEL SECURITY;

CREATE TABLE public.move (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    site text NOT NULL,
    epoch integer NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    from_address text NOT NULL,
    to_address text NOT NULL,
    trust text NOT NULL,
    actor uuid,
    actor_name text NOT NULL,
    reason text
);

ALTER TABLE ONLY public.move FORCE ROW LEVEL SECURITY;

CREATE TABLE public.organisation (
    id uuid NOT NULL,
    slug text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.organisation FORCE ROW LEVEL SECURITY;

CREATE TABLE public.organisation_setting (
    organisation uuid NOT NULL,
    budget_cap_micros bigint DEFAULT 25000000 NOT NULL,
    soft_warning_percent smallint DEFAULT 80 NOT NULL,
    max_concurrent_runs smallint DEFAULT 3 NOT NULL,
    CONSTRAINT organisation_setting_budget_cap_micros_check CHECK ((budget_cap_micros >= 0)),
    CONSTRAINT organisation_setting_max_concurrent_runs_check CHECK (((max_concurrent_runs >= 1) AND (max_concurrent_runs <= 1000))),
    CONSTRAINT organisation_setting_soft_warning_percent_check CHECK (((soft_warning_percent >= 1) AND (soft_warning_percent <= 100)))
);

ALTER TABLE ONLY public.organisation_setting FORCE ROW LEVEL SECURITY;

CREATE TABLE public.platform_breaker (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    probes integer DEFAULT 0 NOT NULL,
    probe uuid,
    probe_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.platform_breaker FORCE ROW LEVEL SECURITY;

CREATE TABLE public.platform_limit (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    concurrency integer,
    rate_tasks integer,
    rate_per_s double precision,
    rate_burst integer,
    by_name text NOT NULL,
    reason text NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    until timestamp with time zone,
    CONSTRAINT platform_limit_check CHECK ((num_nulls(rate_tasks, rate_per_s, rate_burst) = ANY (ARRAY[0, 3]))),
    CONSTRAINT platform_limit_check1 CHECK (((concurrency IS NOT NULL) OR (rate_tasks IS NOT NULL))),
    CONSTRAINT platform_limit_concurrency_check CHECK ((concurrency > 0)),
    CONSTRAINT platform_limit_rate_burst_check CHECK ((rate_burst > 0)),
    CONSTRAINT platform_limit_rate_per_s_check CHECK ((rate_per_s > (0)::double precision)),
    CONSTRAINT platform_limit_rate_tasks_check CHECK ((rate_tasks > 0))
);

ALTER TABLE ONLY public.platform_limit FORCE ROW LEVEL SECURITY;

CREATE TABLE public.platform_pause (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    paused_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    by_name text NOT NULL,
    reason text
);

ALTER TABLE ONLY public.platform_pause FORCE ROW LEVEL SECURITY;

CREATE TABLE public.platform_phase (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    phase text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    by_name text NOT NULL,
    reason text,
    CONSTRAINT platform_phase_phase_check CHECK ((phase = ANY (ARRAY['observe'::text, 'dual'::text, 'primary'::text, 'stream'::text])))
);

ALTER TABLE ONLY public.platform_phase FORCE ROW LEVEL SECURITY;

CREATE TABLE public.platform_rate (
    platform text NOT NULL,
    next_at timestamp with time zone NOT NULL,
    taken_at timestamp with time zone,
    apart_s double precision
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.platform_rate FORCE ROW LEVEL SECURITY;

CREATE TABLE public.platform_tally (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    platform text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    succeeded integer NOT NULL,
    failed integer NOT NULL
);

ALTER TABLE ONLY public.platform_tally FORCE ROW LEVEL SECURITY;

CREATE TABLE public.pool (
    single boolean DEFAULT true NOT NULL,
    store text NOT NULL,
    moving_to text,
    CONSTRAINT pool_moving_to_check CHECK ((moving_to = ANY (ARRAY['postgres'::text, 'mongo'::text]))),
    CONSTRAINT pool_single_check CHECK (single),
    CONSTRAINT pool_store_check CHECK ((store = ANY (ARRAY['postgres'::text, 'mongo'::text])))
);

CREATE TABLE public.publication (
    single boolean DEFAULT true NOT NULL,
    due_at timestamp with time zone DEFAULT (clock_timestamp() + '00:00:05'::interval) NOT NULL,
    holder uuid,
    until timestamp with time zone,
    edition bigint DEFAULT 0 NOT NULL,
    last_error text,
    last_error_at timestamp with time zone,
    CONSTRAINT publication_check CHECK (((holder IS NULL) = (until IS NULL))),
    CONSTRAINT publication_check1 CHECK (((last_error IS NULL) = (last_error_at IS NULL))),
    CONSTRAINT publication_single_check CHECK (single)
);

ALTER TABLE ONLY public.publication FORCE ROW LEVEL SECURITY;

CREATE TABLE public.readiness (
    single boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT readiness_single_check CHECK (single)
);

CREATE TABLE public.receipt (
    task uuid NOT NULL,
    organisation uuid NOT NULL,
    key bytea NOT NULL,
    cursor jsonb NOT NULL,
    number bigint NOT NULL,
    attempt integer NOT NULL,
    fence bigint NOT NULL,
    sha256 bytea NOT NULL,
    documents integer NOT NULL,
    late boolean NOT NULL,
    chunk jsonb,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    written_at timestamp with time zone,
    streamed_at timestamp with time zone,
    shadow_due boolean DEFAULT false NOT NULL,
    platform text NOT NULL,
    streamed_as text,
    CONSTRAINT receipt_chunk_stays CHECK (((chunk IS NULL) = ((written_at IS NOT NULL) AND (NOT shadow_due)))),
    CONSTRAINT receipt_key_check CHECK ((length(key) = 16)),
    CONSTRAINT receipt_sha256_check CHECK ((length(sha256) = 32))
);

ALTER TABLE ONLY public.receipt FORCE ROW LEVEL SECURITY;

ALTER TABLE public.receipt ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.receipt_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.record_batch (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    source text,
    items integer NOT NULL,
    left_over integer NOT NULL,
    outcomes jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    done_at timestamp with time zone
);

ALTER TABLE ONLY public.record_batch FORCE ROW LEVEL SECURITY;

CREATE TABLE public.record_dead_letter (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    source text,
    source_id text,
    batch uuid NOT NULL,
    reason text NOT NULL,
    content text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.record_dead_letter FORCE ROW LEVEL SECURITY;

CREATE TABLE public.record_queue (
    organisation uuid NOT NULL,
    seq bigint NOT NULL,
    batch uuid NOT NULL,
    priority integer NOT NULL,
    run uuid,
    items integer NOT NULL,
    bytes integer NOT NULL,
    content bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.record_queue FORCE ROW LEVEL SECURITY;

ALTER TABLE public.record_queue ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.record_queue_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.registry_version (
    organisation uuid NOT NULL,
    version bigint NOT NULL
);

ALTER TABLE ONLY public.registry_version FORCE ROW LEVEL SECURITY;

CREATE TABLE public.replay (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    by_name text NOT NULL,
    rate_per_second double precision NOT NULL,
    matched integer NOT NULL,
    left_over integer NOT NULL,
    replayed integer DEFAULT 0 NOT NULL,
    skipped jsonb DEFAULT '[]'::jsonb NOT NULL,
    ended_at timestamp with time zone,
    stopped_at timestamp with time zone,
    CONSTRAINT replay_rate_per_second_check CHECK ((rate_per_second >= (0)::double precision))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.replay FORCE ROW LEVEL SECURITY;

CREATE TABLE public.result (
    task uuid NOT NULL,
    organisation uuid NOT NULL,
    key bytea NOT NULL,
    number bigint NOT NULL,
    place integer NOT NULL,
    document jsonb NOT NULL,
    space text DEFAULT 'main'::text NOT NULL,
    CONSTRAINT result_space_check CHECK ((space = ANY (ARRAY['main'::text, 'shadow'::text])))
);

ALTER TABLE ONLY public.result FORCE ROW LEVEL SECURITY;

CREATE TABLE public.run (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    name text NOT NULL,
    collector text NOT NULL,
    platform text NOT NULL,
    categories text[] NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    sub_status text,
    pause_reason text,
    pause_detail text,
    estimate jsonb NOT NULL,
    estimated_cost_micros bigint NOT NULL,
    budget_cap_micros bigint NOT NULL,
    has_own_cap boolean DEFAULT false NOT NULL,
    soft_warning_percent smallint NOT NULL,
    warned_cap_micros bigint,
    spent_micros bigint DEFAULT 0 NOT NULL,
    reserved_micros bigint DEFAULT 0 NOT NULL,
    total_items bigint NOT NULL,
    processed_items bigint DEFAULT 0 NOT NULL,
    failed_items bigint DEFAULT 0 NOT NULL,
    skipped_items bigint DEFAULT 0 NOT NULL,
    place jsonb DEFAULT '{}'::jsonb NOT NULL,
    checkpoint_at timestamp with time zone,
    recent_items integer DEFAULT 0 NOT NULL,
    recent_failed integer DEFAULT 0 NOT NULL,
    warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    wanted_at timestamp with time zone,
    started_at timestamp with time zone,
    paused_at timestamp with time zone,
    completed_at timestamp with time zone,
    resume_at timestamp with time zone,
    driver uuid,
    driver_fence bigint DEFAULT 0 NOT NULL,
    driver_until timestamp with time zone,
    dropped_categories text[] DEFAULT '{}'::text[] NOT NULL,
    max_in_flight integer DEFAULT 200 NOT NULL,
    config jsonb,
    frozen_at timestamp with time zone,
    outcome jsonb,
    is_cap_planned boolean DEFAULT false NOT NULL,
    skip_collected_days smallint,
    overrun_micros bigint DEFAULT 0 NOT NULL,
    CONSTRAINT run_categories_check CHECK ((cardinality(categories) >= 1)),
    CONSTRAINT run_check CHECK (((status = 'paused'::text) = (pause_reason IS NOT NULL))),
    CONSTRAINT run_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))),
    CONSTRAINT run_max_in_flight_check CHECK (((max_in_flight >= 1) AND (max_in_flight <= 1000))),
    CONSTRAINT run_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT run_overrun_micros_check CHECK ((overrun_micros >= 0)),
    CONSTRAINT run_pause_reason_check CHECK ((pause_reason = ANY (ARRAY['operator'::text, 'budget'::text, 'provider_down'::text, 'failures'::text]))),
    CONSTRAINT run_reserved_micros_check CHECK ((reserved_micros >= 0)),
    CONSTRAINT run_skip_collected_days_check CHECK (((skip_collected_days >= 1) AND (skip_collected_days <= 365))),
    CONSTRAINT run_spent_micros_check CHECK ((spent_micros >= 0)),
    CONSTRAINT run_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'paused'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT run_sub_status_check CHECK ((sub_status = ANY (ARRAY['waiting'::text, 'pausing'::text, 'cancelling'::text]))),
    CONSTRAINT run_within_its_cap CHECK (((spent_micros + reserved_micros) <= (budget_cap_micros + overrun_micros)))
)
WITH (fillfactor='60');

ALTER TABLE ONLY public.run FORCE ROW LEVEL SECURITY;

CREATE TABLE public.run_event (
    organisation uuid NOT NULL,
    run uuid NOT NULL,
    seq bigint NOT NULL,
    type text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE ONLY public.run_event FORCE ROW LEVEL SECURITY;

CREATE TABLE public.run_item (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    run uuid NOT NULL,
    category text NOT NULL,
    item_type text NOT NULL,
    external_id text NOT NULL,
    status text DEFAULT 'processing'::text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    error_code text,
    error_message text,
    reserved_micros bigint DEFAULT 0 NOT NULL,
    cost_micros bigint DEFAULT 0 NOT NULL,
    job text NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT run_item_cost_micros_check CHECK ((cost_micros >= 0)),
    CONSTRAINT run_item_reserved_micros_check CHECK ((reserved_micros >= 0)),
    CONSTRAINT run_item_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'skipped'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.run_item FORCE ROW LEVEL SECURITY;

CREATE TABLE public.run_ledger (
    organisation uuid NOT NULL,
    run uuid NOT NULL,
    number bigint NOT NULL,
    item uuid,
    kind text NOT NULL,
    purpose text NOT NULL,
    reserved_micros bigint NOT NULL,
    spent_micros bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT run_ledger_kind_check CHECK ((kind = ANY (ARRAY['reserve'::text, 'settle'::text, 'return'::text]))),
    CONSTRAINT run_ledger_purpose_check CHECK ((purpose = ANY (ARRAY['item'::text, 'listing'::text])))
);

ALTER TABLE ONLY public.run_ledger FORCE ROW LEVEL SECURITY;

ALTER TABLE public.run_ledger ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.run_ledger_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.schema_mark (
    name text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.seed (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    site text NOT NULL,
    sub text NOT NULL,
    rest text NOT NULL,
    reference bytea NOT NULL,
    original_url text NOT NULL,
    kind text DEFAULT 'page'::text NOT NULL,
    priority integer DEFAULT 50 NOT NULL,
    interval_seconds integer DEFAULT 3600 NOT NULL,
    min_interval_seconds integer DEFAULT 60 NOT NULL,
    max_interval_seconds integer DEFAULT 1209600 NOT NULL,
    next_due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    cursor jsonb,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    last_outcome text,
    last_found integer,
    last_visited_at timestamp with time zone,
    fence bigint DEFAULT 0 NOT NULL,
    lease uuid,
    back_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    visits integer DEFAULT 0 NOT NULL,
    CONSTRAINT seed_check CHECK (((interval_seconds >= min_interval_seconds) AND (interval_seconds <= max_interval_seconds))),
    CONSTRAINT seed_check1 CHECK (((lease IS NULL) = (back_at IS NULL))),
    CONSTRAINT seed_min_interval_seconds_check CHECK ((min_interval_seconds > 0)),
    CONSTRAINT seed_priority_check CHECK (((priority >= 0) AND (priority <= 100)))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');

ALTER TABLE ONLY public.seed FORCE ROW LEVEL SECURITY;

CREATE TABLE public.seed_bed (
    organisation uuid NOT NULL,
    site text NOT NULL,
    priority integer NOT NULL,
    head_due_at timestamp with time zone NOT NULL,
    served_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');

ALTER TABLE ONLY public.seed_bed FORCE ROW LEVEL SECURITY;

CREATE VIEW public.seed_now WITH (security_invoker='true') AS
 SELECT s.organisation,
    s.id,
    s.site,
    s.sub,
    s.rest,
    s.original_url,
    s.kind,
    s.priority,
    s.interval_seconds,
    s.min_interval_seconds,
    s.max_interval_seconds,
    s.next_due_at,
    s.cursor,
    s.labels,
    s.enabled,
    s.consecutive_failures,
    s.last_outcome,
    s.last_found,
    s.last_visited_at,
    s.created_at,
    s.updated_at,
    l.owner AS holder,
    l.id AS lease_id,
    l.expires_at,
    s.fence
   FROM (public.seed s
     LEFT JOIN public.lease l ON (((l.id = s.lease) AND (l.expires_at > clock_timestamp()))));

CREATE TABLE public.seed_visit (
    organisation uuid NOT NULL,
    seed uuid NOT NULL,
    number integer NOT NULL,
    at timestamp with time zone NOT NULL,
    outcome text NOT NULL,
    found integer,
    previous_interval_seconds integer NOT NULL,
    interval_seconds integer NOT NULL,
    next_due_at timestamp with time zone NOT NULL,
    owner text NOT NULL,
    reason text
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY public.seed_visit FORCE ROW LEVEL SECURITY;

CREATE TABLE public.session_base (
    lease uuid NOT NULL,
    organisation uuid NOT NULL,
    account uuid NOT NULL,
    version integer NOT NULL,
    note jsonb NOT NULL,
    key_id text,
    sealed bytea,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT session_base_check CHECK (((key_id IS NULL) = (sealed IS NULL)))
);
ALTER TABLE ONLY public.session_base ALTER COLUMN sealed SET STORAGE EXTERNAL;

ALTER TABLE ONLY public.session_base FORCE ROW LEVEL SECURITY;

CREATE TABLE public.session_version (
    account uuid NOT NULL,
    organisation uuid NOT NULL,
    rev integer NOT NULL,
    version integer NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    facts jsonb NOT NULL,
    made jsonb NOT NULL,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.session_version ALTER COLUMN sealed SET STORAGE EXTERNAL;

ALTER TABLE ONLY public.session_version FORCE ROW LEVEL SECURITY;

CREATE TABLE public.site (
    organisation uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    epoch integer DEFAULT 1 NOT NULL,
    paused_at timestamp with time zone,
    pause_reason text,
    max_concurrent_accounts integer,
    cooldown_seconds integer DEFAULT 0 NOT NULL,
    reclaim_delay_seconds integer DEFAULT 15 NOT NULL,
    quarantine_after_unclean integer DEFAULT 3 NOT NULL,
    breaker_percent integer DEFAULT 60 NOT NULL,
    breaker_min_accounts integer DEFAULT 5 NOT NULL,
    breaker_window_seconds integer DEFAULT 600 NOT NULL,
    seed_concurrency integer,
    min_interval_ms integer DEFAULT 0 NOT NULL,
    auth_markers text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    probation_after_seconds integer,
    CONSTRAINT site_breaker_min_accounts_check CHECK ((breaker_min_accounts > 0)),
    CONSTRAINT site_breaker_percent_check CHECK (((breaker_percent >= 1) AND (breaker_percent <= 100))),
    CONSTRAINT site_breaker_window_seconds_check CHECK ((breaker_window_seconds > 0)),
    CONSTRAINT site_check CHECK (((paused_at IS NULL) = (pause_reason IS NULL))),
    CONSTRAINT site_cooldown_seconds_check CHECK ((cooldown_seconds >= 0)),
    CONSTRAINT site_max_concurrent_accounts_check CHECK ((max_concurrent_accounts > 0)),
    CONSTRAINT site_min_interval_ms_check CHECK ((min_interval_ms >= 0)),
    CONSTRAINT site_probation_after_seconds_check CHECK ((probation_after_seconds > 0)),
    CONSTRAINT site_quarantine_after_unclean_check CHECK ((quarantine_after_unclean > 0)),
    CONSTRAINT site_reclaim_delay_seconds_check CHECK ((reclaim_delay_seconds >= 0)),
    CONSTRAINT site_seed_concurrency_check CHECK ((seed_concurrency > 0))
);

ALTER TABLE ONLY public.site FORCE ROW LEVEL SECURITY;

CREATE TABLE public.source (
    organisation uuid NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'idle'::text NOT NULL,
    waiting_for text,
    place jsonb,
    watermark timestamp with time zone,
    seen bigint DEFAULT 0 NOT NULL,
    pages bigint DEFAULT 0 NOT NULL,
    handed bigint DEFAULT 0 NOT NULL,
    gone bigint DEFAULT 0 NOT NULL,
    errors bigint DEFAULT 0 NOT NULL,
    expected bigint,
    per_second real DEFAULT 0 NOT NULL,
    measured_at timestamp with time zone,
    measured_seen bigint DEFAULT 0 NOT NULL,
    rate_now real,
    started_at timestamp with time zone,
    last_sweep jsonb,
    last_error text,
    driver uuid,
    driver_fence bigint DEFAULT 0 NOT NULL,
    driver_until timestamp with time zone,
    CONSTRAINT source_check CHECK (((status <> 'sweeping'::text) OR (place IS NOT NULL))),
    CONSTRAINT source_check1 CHECK (((waiting_for IS NULL) OR (status = 'sweeping'::text))),
    CONSTRAINT source_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT source_status_check CHECK ((status = ANY (ARRAY['idle'::text, 'sweeping'::text, 'paused'::text, 'failed'::text]))),
    CONSTRAINT source_waiting_for_check CHECK ((waiting_for = ANY (ARRAY['rate'::text, 'retry'::text, 'queue'::text])))
)
WITH (fillfactor='60');

ALTER TABLE ONLY public.source FORCE ROW LEVEL SECURITY;

CREATE TABLE public.source_dead_letter (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    source text NOT NULL,
    source_id text,
    reason text NOT NULL,
    payload text NOT NULL,
    digest bytea NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.source_dead_letter FORCE ROW LEVEL SECURITY;

CREATE TABLE public.source_record (
    organisation uuid NOT NULL,
    node bigint NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    source text NOT NULL,
    source_id text NOT NULL,
    name text NOT NULL,
    content bytea NOT NULL,
    digest bytea NOT NULL,
    entity uuid NOT NULL,
    step text NOT NULL,
    evidence text,
    linked_with bigint,
    state text DEFAULT 'live'::text NOT NULL,
    times_seen bigint DEFAULT 1 NOT NULL,
    first_seen_run uuid,
    last_seen_run uuid,
    looked_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT source_record_state_check CHECK ((state = ANY (ARRAY['live'::text, 'deleted'::text, 'merged'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.source_record FORCE ROW LEVEL SECURITY;

CREATE TABLE public.source_sighting (
    organisation uuid NOT NULL,
    source text NOT NULL,
    source_id text NOT NULL,
    state text DEFAULT 'live'::text NOT NULL,
    merged_into text,
    digest bytea NOT NULL,
    sweep uuid NOT NULL,
    pass integer NOT NULL,
    CONSTRAINT source_sighting_check CHECK (((merged_into IS NULL) OR (state = 'merged'::text))),
    CONSTRAINT source_sighting_state_check CHECK ((state = ANY (ARRAY['live'::text, 'deleted'::text, 'merged'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.source_sighting FORCE ROW LEVEL SECURITY;

CREATE TABLE public.suppression (
    organisation uuid NOT NULL,
    mark bytea NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.suppression FORCE ROW LEVEL SECURITY;

CREATE TABLE public.suppression_key (
    organisation uuid NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL
);

ALTER TABLE ONLY public.suppression_key FORCE ROW LEVEL SECURITY;

CREATE TABLE public.task (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    job text NOT NULL,
    platform text NOT NULL,
    task_type text NOT NULL,
    priority smallint NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    sub_status text,
    attempt integer DEFAULT 1 NOT NULL,
    max_attempts integer NOT NULL,
    losses integer DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    lease uuid,
    back_at timestamp with time zone,
    not_before timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    deadline_at timestamp with time zone NOT NULL,
    cursor jsonb,
    seen int4multirange DEFAULT '{}'::int4multirange NOT NULL,
    final_seq integer,
    final_status text,
    result_count integer DEFAULT 0 NOT NULL,
    last_error jsonb,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    begun_at timestamp with time zone,
    ended_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    published_at timestamp with time zone,
    queue_until timestamp with time zone,
    replay uuid,
    snoozes integer DEFAULT 0 NOT NULL,
    cost_micros bigint DEFAULT 0 NOT NULL,
    canary boolean DEFAULT false NOT NULL,
    paused_at timestamp with time zone,
    CONSTRAINT task_check CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['pending'::text, 'dispatched'::text, 'processing'::text])))),
    CONSTRAINT task_final_status_check CHECK ((final_status = ANY (ARRAY['success'::text, 'skipped'::text]))),
    CONSTRAINT task_lease_while CHECK (((lease IS NULL) OR (status = ANY (ARRAY['dispatched'::text, 'processing'::text, 'cancelled'::text])))),
    CONSTRAINT task_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'dispatched'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'timed_out'::text, 'cancelled'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.task FORCE ROW LEVEL SECURITY;

CREATE TABLE public.task_event (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    task uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    event text NOT NULL,
    attempt integer NOT NULL,
    fence bigint NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE ONLY public.task_event FORCE ROW LEVEL SECURITY;

CREATE TABLE public.token (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    role text,
    permissions text[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone
);

ALTER TABLE ONLY public.token FORCE ROW LEVEL SECURITY;

CREATE UNLOGGED TABLE public.waiter (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    process uuid NOT NULL,
    site text NOT NULL,
    priority integer NOT NULL,
    wanted integer NOT NULL,
    labels jsonb NOT NULL,
    account uuid,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    refreshed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    kind text DEFAULT 'account'::text NOT NULL
);

ALTER TABLE ONLY public.waiter FORCE ROW LEVEL SECURITY;

ALTER TABLE ONLY faces.face
    ADD CONSTRAINT face_pkey PRIMARY KEY (organisation, record, model, image);

ALTER TABLE ONLY faces.image
    ADD CONSTRAINT image_pkey PRIMARY KEY (organisation, record, digest);

ALTER TABLE ONLY faces.look
    ADD CONSTRAINT look_pkey PRIMARY KEY (organisation, record);

ALTER TABLE ONLY faces.model
    ADD CONSTRAINT model_pkey PRIMARY KEY (organisation, digest);

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_name UNIQUE (organisation, site, username);

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.account_secret
    ADD CONSTRAINT account_secret_pkey PRIMARY KEY (account);

ALTER TABLE ONLY public.alert_message
    ADD CONSTRAINT alert_message_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.artifact
    ADD CONSTRAINT artifact_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT audit_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_seal
    ADD CONSTRAINT audit_seal_pkey PRIMARY KEY (organisation, seq);

ALTER TABLE ONLY public.blob
    ADD CONSTRAINT blob_pkey PRIMARY KEY (organisation, sha256);

ALTER TABLE ONLY public.capture_file
    ADD CONSTRAINT capture_file_pkey PRIMARY KEY (capture, name);

ALTER TABLE ONLY public.capture
    ADD CONSTRAINT capture_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.clock_jump
    ADD CONSTRAINT clock_jump_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.document_seen
    ADD CONSTRAINT document_seen_pkey PRIMARY KEY (task, identity);

ALTER TABLE ONLY public.edge_part
    ADD CONSTRAINT edge_part_pkey PRIMARY KEY (organisation, a, b, field);

ALTER TABLE ONLY public.edge
    ADD CONSTRAINT edge_pkey PRIMARY KEY (organisation, a, b, epoch);

ALTER TABLE ONLY public.entity_change
    ADD CONSTRAINT entity_change_pkey PRIMARY KEY (organisation, seq);

ALTER TABLE ONLY public.entity
    ADD CONSTRAINT entity_organisation_kind_key_key UNIQUE (organisation, kind, key);

ALTER TABLE ONLY public.entity
    ADD CONSTRAINT entity_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.external_file
    ADD CONSTRAINT external_file_pkey PRIMARY KEY (capture, name);

ALTER TABLE ONLY public.graph_count
    ADD CONSTRAINT graph_count_pkey PRIMARY KEY (organisation, source, name);

ALTER TABLE ONLY public.graph_writer
    ADD CONSTRAINT graph_writer_pkey PRIMARY KEY (organisation);

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (organisation, token, route, key);

ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (organisation, id);

ALTER TABLE ONLY public.lease_end
    ADD CONSTRAINT lease_end_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.legacy_item
    ADD CONSTRAINT legacy_item_pkey PRIMARY KEY (organisation, kind, legacy_id);

ALTER TABLE ONLY public.legacy_run
    ADD CONSTRAINT legacy_run_pkey PRIMARY KEY (organisation, source);

ALTER TABLE ONLY public.link_decision
    ADD CONSTRAINT link_decision_pkey PRIMARY KEY (organisation, a, b);

ALTER TABLE ONLY public.link_epoch
    ADD CONSTRAINT link_epoch_pkey PRIMARY KEY (organisation, kind, number);

ALTER TABLE ONLY public.link_key
    ADD CONSTRAINT link_key_pkey PRIMARY KEY (organisation, key, node, epoch);

ALTER TABLE ONLY public.live_ticket
    ADD CONSTRAINT live_ticket_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.mount
    ADD CONSTRAINT mount_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.move
    ADD CONSTRAINT move_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organisation
    ADD CONSTRAINT organisation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organisation_setting
    ADD CONSTRAINT organisation_setting_pkey PRIMARY KEY (organisation);

ALTER TABLE ONLY public.organisation
    ADD CONSTRAINT organisation_slug UNIQUE (slug);

ALTER TABLE ONLY public.platform_breaker
    ADD CONSTRAINT platform_breaker_pkey PRIMARY KEY (organisation, platform);

ALTER TABLE ONLY public.platform_limit
    ADD CONSTRAINT platform_limit_pkey PRIMARY KEY (organisation, platform);

ALTER TABLE ONLY public.platform_pause
    ADD CONSTRAINT platform_pause_pkey PRIMARY KEY (organisation, platform);

ALTER TABLE ONLY public.platform_phase
    ADD CONSTRAINT platform_phase_pkey PRIMARY KEY (organisation, platform);

ALTER TABLE ONLY public.platform_rate
    ADD CONSTRAINT platform_rate_pkey PRIMARY KEY (platform);

ALTER TABLE ONLY public.platform_tally
    ADD CONSTRAINT platform_tally_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (single);

ALTER TABLE ONLY public.publication
    ADD CONSTRAINT publication_pkey PRIMARY KEY (single);

ALTER TABLE ONLY public.readiness
    ADD CONSTRAINT readiness_pkey PRIMARY KEY (single);

ALTER TABLE ONLY public.receipt
    ADD CONSTRAINT receipt_pkey PRIMARY KEY (task, key);

ALTER TABLE ONLY public.record_batch
    ADD CONSTRAINT record_batch_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.record_dead_letter
    ADD CONSTRAINT record_dead_letter_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.record_queue
    ADD CONSTRAINT record_queue_pkey PRIMARY KEY (organisation, seq);

ALTER TABLE ONLY public.registry_version
    ADD CONSTRAINT registry_version_pkey PRIMARY KEY (organisation);

ALTER TABLE ONLY public.replay
    ADD CONSTRAINT replay_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.result
    ADD CONSTRAINT result_pkey PRIMARY KEY (task, space, key, place);

ALTER TABLE ONLY public.run_event
    ADD CONSTRAINT run_event_pkey PRIMARY KEY (run, seq);

ALTER TABLE ONLY public.run_item
    ADD CONSTRAINT run_item_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.run_item
    ADD CONSTRAINT run_item_run_category_external_id_key UNIQUE (run, category, external_id);

ALTER TABLE ONLY public.run_ledger
    ADD CONSTRAINT run_ledger_pkey PRIMARY KEY (run, number);

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_mark
    ADD CONSTRAINT schema_mark_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.seed
    ADD CONSTRAINT seed_address UNIQUE (organisation, site, reference);

ALTER TABLE ONLY public.seed_bed
    ADD CONSTRAINT seed_bed_pkey PRIMARY KEY (organisation, site, priority);

ALTER TABLE ONLY public.seed
    ADD CONSTRAINT seed_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.seed_visit
    ADD CONSTRAINT seed_visit_pkey PRIMARY KEY (seed, number);

ALTER TABLE ONLY public.session_base
    ADD CONSTRAINT session_base_pkey PRIMARY KEY (lease);

ALTER TABLE ONLY public.session_version
    ADD CONSTRAINT session_version_pkey PRIMARY KEY (account, rev);

ALTER TABLE ONLY public.site
    ADD CONSTRAINT site_key PRIMARY KEY (organisation, slug);

ALTER TABLE ONLY public.source_dead_letter
    ADD CONSTRAINT source_dead_letter_organisation_source_digest_key UNIQUE (organisation, source, digest);

ALTER TABLE ONLY public.source_dead_letter
    ADD CONSTRAINT source_dead_letter_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.source
    ADD CONSTRAINT source_pkey PRIMARY KEY (organisation, name);

ALTER TABLE ONLY public.source_record
    ADD CONSTRAINT source_record_pkey PRIMARY KEY (organisation, node);

ALTER TABLE ONLY public.source_sighting
    ADD CONSTRAINT source_sighting_pkey PRIMARY KEY (organisation, source, source_id);

ALTER TABLE ONLY public.suppression_key
    ADD CONSTRAINT suppression_key_pkey PRIMARY KEY (organisation);

ALTER TABLE ONLY public.suppression
    ADD CONSTRAINT suppression_pkey PRIMARY KEY (organisation, mark);

ALTER TABLE ONLY public.task_event
    ADD CONSTRAINT task_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_organisation_job_platform_key UNIQUE (organisation, job, platform);

ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_hash UNIQUE (hash);

ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.waiter
    ADD CONSTRAINT waiter_pkey PRIMARY KEY (id);

CREATE INDEX face_by_end ON faces.face USING btree (organisation, expires_at);

CREATE INDEX face_of_model ON faces.face USING btree (organisation, model);

CREATE INDEX image_by_end ON faces.image USING btree (organisation, expires_at);

CREATE INDEX account_due ON public.account USING btree (organisation, site, back_at) WHERE ((back_at IS NOT NULL) AND (NOT moved));

CREATE INDEX account_failing ON public.account USING btree (organisation, site, last_outcome_at) WHERE (before_penalty IS NOT NULL);

CREATE INDEX account_free ON public.account USING btree (organisation, site, priority DESC, last_leased_at, id) WHERE ((standing = 'active'::text) AND (lease IS NULL) AND (cooling_until IS NULL) AND (NOT moved));

CREATE INDEX account_secret_key ON public.account_secret USING btree (organisation, key_id);

CREATE INDEX alert_by_time ON public.alert USING btree (organisation, at);

CREATE INDEX alert_message_by_time ON public.alert_message USING btree (organisation, made_at);

CREATE INDEX alert_message_due ON public.alert_message USING btree (organisation, due_at) WHERE (sent_at IS NULL);

CREATE INDEX audit_event_in_order ON public.audit_event USING btree (organisation, era, xact, id);

CREATE INDEX audit_event_of_organisation ON public.audit_event USING btree (organisation, id);

CREATE INDEX audit_event_of_subject ON public.audit_event USING btree (organisation, subject, id);

CREATE INDEX blob_unused ON public.blob USING btree (organisation, claimed_at) WHERE (NOT in_use);

CREATE INDEX capture_by_time ON public.capture USING btree (organisation, received_at, id);

CREATE INDEX capture_claimed ON public.capture USING btree (organisation, lease) WHERE (lease IS NOT NULL);

CREATE INDEX capture_file_of_blob ON public.capture_file USING btree (organisation, sha256);

CREATE INDEX capture_of_site ON public.capture USING btree (organisation, site, received_at, id);

CREATE INDEX capture_of_url ON public.capture USING btree (organisation, site, hashtextextended(rest, (0)::bigint)) WHERE (rest IS NOT NULL);

CREATE INDEX capture_standing ON public.capture USING btree (organisation, standing);

CREATE INDEX capture_waiting ON public.capture USING btree (organisation, received_at, id) WHERE ((standing = 'received'::text) AND (lease IS NULL));

CREATE INDEX capture_waiting_at_site ON public.capture USING btree (organisation, site, received_at, id) WHERE ((standing = 'received'::text) AND (lease IS NULL));

CREATE INDEX dead_letter_by_time ON public.dead_letter USING btree (organisation, at, id);

CREATE INDEX dead_letter_of_platform ON public.dead_letter USING btree (organisation, platform, reason, at, id);

CREATE INDEX dead_letter_of_replay ON public.dead_letter USING btree (organisation, replay) WHERE (replay IS NOT NULL);

CREATE INDEX edge_back ON public.edge USING btree (organisation, b, epoch);

CREATE INDEX edge_open ON public.edge USING btree (organisation, teaches DESC) WHERE (teaches IS NOT NULL);

CREATE INDEX edge_part_back ON public.edge_part USING btree (organisation, b);

CREATE INDEX entity_by_founder ON public.entity USING btree (organisation, founder) WHERE (merged_into IS NOT NULL);

CREATE INDEX entity_by_time ON public.entity USING btree (organisation, kind, id);

CREATE INDEX entity_change_of_one ON public.entity_change USING btree (organisation, entity, seq);

CREATE INDEX entity_pointers ON public.entity USING btree (organisation, merged_into) WHERE (merged_into IS NOT NULL);

CREATE INDEX idempotency_key_age ON public.idempotency_key USING btree (at);

CREATE INDEX job_by_end ON public.job USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX job_by_status ON public.job USING btree (organisation, status, created_at, id);

CREATE INDEX job_by_time ON public.job USING btree (organisation, created_at, id);

CREATE INDEX job_of_run ON public.job USING btree (organisation, run_id, created_at, id) WHERE (run_id IS NOT NULL);

CREATE INDEX job_with_leases ON public.job USING btree (organisation, ended_at) WHERE has_leases;

CREATE INDEX lease_end_lost ON public.lease_end USING btree (organisation, owner, ended_at) WHERE (how <> 'released'::text);

CREATE INDEX lease_end_of_resource ON public.lease_end USING btree (organisation, resource, fence);

CREATE INDEX lease_of_job ON public.lease USING btree (organisation, job_id) WHERE (job_id IS NOT NULL);

CREATE INDEX lease_of_owner ON public.lease USING btree (organisation, owner);

CREATE UNIQUE INDEX lease_of_resource ON public.lease USING btree (resource);

CREATE INDEX lease_of_site ON public.lease USING btree (organisation, site, kind);

CREATE INDEX legacy_item_of_capture ON public.legacy_item USING btree (capture) WHERE (capture IS NOT NULL);

CREATE INDEX legacy_item_of_site ON public.legacy_item USING btree (organisation, site) WHERE (site IS NOT NULL);

CREATE INDEX link_decision_back ON public.link_decision USING btree (organisation, b);

CREATE UNIQUE INDEX link_epoch_current ON public.link_epoch USING btree (organisation, kind) WHERE (state = 'current'::text);

CREATE UNIQUE INDEX link_epoch_moving ON public.link_epoch USING btree (organisation, kind) WHERE (state = 'moving'::text);

CREATE UNIQUE INDEX mount_address ON public.mount USING btree (organisation, host, COALESCE(port, 0), prefix) WHERE current;

CREATE INDEX mount_by_host ON public.mount USING btree (organisation, host);

CREATE INDEX mount_of_site ON public.mount USING btree (organisation, site, since);

CREATE UNIQUE INDEX mount_one_current ON public.mount USING btree (organisation, site) WHERE current;

CREATE INDEX move_of_site ON public.move USING btree (organisation, site, id);

CREATE INDEX platform_tally_by_time ON public.platform_tally USING btree (organisation, platform, at);

CREATE INDEX receipt_of_platform ON public.receipt USING btree (organisation, platform, number);

CREATE INDEX receipt_of_task ON public.receipt USING btree (organisation, task, number);

CREATE INDEX receipt_unshadowed ON public.receipt USING btree (organisation, platform, number) WHERE shadow_due;

CREATE INDEX receipt_unwritten ON public.receipt USING btree (organisation, platform, number) WHERE (written_at IS NULL);

CREATE INDEX receipt_unwritten_of_task ON public.receipt USING btree (task) WHERE (written_at IS NULL);

CREATE INDEX record_batch_done ON public.record_batch USING btree (done_at) WHERE (done_at IS NOT NULL);

CREATE INDEX record_dead_letter_by_time ON public.record_dead_letter USING btree (organisation, id);

CREATE INDEX record_queue_by_turn ON public.record_queue USING btree (organisation, priority DESC, seq);

CREATE INDEX replay_by_time ON public.replay USING btree (organisation, at, id);

CREATE INDEX result_of_task ON public.result USING btree (organisation, task, number, place);

CREATE INDEX run_by_time ON public.run USING btree (organisation, created_at, id);

CREATE INDEX run_event_of_run ON public.run_event USING btree (organisation, run, seq);

CREATE INDEX run_item_by_status ON public.run_item USING btree (organisation, run, status, id);

CREATE INDEX run_item_collected ON public.run_item USING btree (organisation, category, external_id, id) WHERE (status = 'completed'::text);

CREATE INDEX run_item_of_run ON public.run_item USING btree (organisation, run, id);

CREATE INDEX run_ledger_by_time ON public.run_ledger USING brin (at) WITH (autosummarize='on');

CREATE INDEX run_ledger_of_run ON public.run_ledger USING btree (organisation, run, number);

CREATE INDEX run_live ON public.run USING btree (organisation, wanted_at, id) WHERE ((status = ANY (ARRAY['running'::text, 'paused'::text])) OR (sub_status IS NOT NULL));

CREATE INDEX seed_back ON public.seed USING btree (organisation, back_at) WHERE (back_at IS NOT NULL);

CREATE INDEX seed_free ON public.seed USING btree (organisation, site, priority, next_due_at, id) WHERE (enabled AND (lease IS NULL));

CREATE INDEX seed_of_site ON public.seed USING btree (organisation, site, id);

CREATE INDEX seed_off ON public.seed USING btree (organisation, site) WHERE (NOT enabled);

CREATE INDEX session_base_account ON public.session_base USING btree (account);

CREATE INDEX session_base_key ON public.session_base USING btree (organisation, key_id) WHERE (key_id IS NOT NULL);

CREATE INDEX session_version_key ON public.session_version USING btree (organisation, key_id);

CREATE INDEX source_dead_letter_by_time ON public.source_dead_letter USING btree (organisation, source, id);

CREATE INDEX source_record_by_entity ON public.source_record USING btree (organisation, entity);

CREATE INDEX source_record_by_source ON public.source_record USING btree (organisation, source, node);

CREATE INDEX source_sweeping ON public.source USING btree (organisation, name) WHERE (status = 'sweeping'::text);

CREATE INDEX task_by_lease ON public.task USING btree (lease) WHERE (lease IS NOT NULL);

CREATE INDEX task_deadline ON public.task USING btree (organisation, deadline_at) WHERE (ended_at IS NULL);

CREATE INDEX task_due ON public.task USING btree (organisation, back_at) WHERE (back_at IS NOT NULL);

CREATE INDEX task_event_of_task ON public.task_event USING btree (organisation, task, at, id);

CREATE INDEX task_held ON public.task USING btree (platform) WHERE (lease IS NOT NULL);

CREATE INDEX task_next ON public.task USING btree (organisation, platform, not_before) WHERE (status = 'pending'::text);

CREATE INDEX task_of_platform ON public.task USING btree (organisation, platform, status);

CREATE INDEX task_of_replay ON public.task USING btree (organisation, replay) WHERE (replay IS NOT NULL);

CREATE INDEX task_queued ON public.task USING btree (organisation, platform, published_at) WHERE (status = 'dispatched'::text);

CREATE INDEX task_rivals ON public.task USING btree (platform, organisation) WHERE (status = 'pending'::text);

CREATE INDEX task_waiting ON public.task USING btree (organisation, platform, priority DESC, created_at, id) WHERE (status = 'pending'::text);

CREATE INDEX token_of_organisation ON public.token USING btree (organisation, id);

CREATE INDEX waiter_at_site ON public.waiter USING btree (organisation, site, priority DESC, since);

CREATE TRIGGER audit_event_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_event FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER audit_seal_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_seal FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER seed_was_added AFTER INSERT ON public.seed REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.lower_seed_beds();

CREATE TRIGGER seed_was_changed AFTER UPDATE ON public.seed REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.lower_seed_beds();

ALTER TABLE ONLY faces.face
    ADD CONSTRAINT face_organisation_model_fkey FOREIGN KEY (organisation, model) REFERENCES faces.model(organisation, digest);

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug);

ALTER TABLE ONLY public.account_secret
    ADD CONSTRAINT account_secret_account_fkey FOREIGN KEY (account) REFERENCES public.account(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.audit_seal
    ADD CONSTRAINT audit_seal_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.capture_file
    ADD CONSTRAINT capture_file_capture_fkey FOREIGN KEY (capture) REFERENCES public.capture(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.capture_file
    ADD CONSTRAINT capture_file_organisation_sha256_fkey FOREIGN KEY (organisation, sha256) REFERENCES public.blob(organisation, sha256);

ALTER TABLE ONLY public.capture
    ADD CONSTRAINT capture_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug);

ALTER TABLE ONLY public.document_seen
    ADD CONSTRAINT document_seen_task_fkey FOREIGN KEY (task) REFERENCES public.task(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.external_file
    ADD CONSTRAINT external_file_capture_fkey FOREIGN KEY (capture) REFERENCES public.capture(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_token_fkey FOREIGN KEY (token) REFERENCES public.token(id);

ALTER TABLE ONLY public.legacy_item
    ADD CONSTRAINT legacy_item_capture_fkey FOREIGN KEY (capture) REFERENCES public.capture(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.legacy_item
    ADD CONSTRAINT legacy_item_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.legacy_item
    ADD CONSTRAINT legacy_item_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug) ON DELETE CASCADE;

ALTER TABLE ONLY public.legacy_run
    ADD CONSTRAINT legacy_run_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.mount
    ADD CONSTRAINT mount_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug) ON DELETE CASCADE;

ALTER TABLE ONLY public.move
    ADD CONSTRAINT move_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug) ON DELETE CASCADE;

ALTER TABLE ONLY public.receipt
    ADD CONSTRAINT receipt_task_fkey FOREIGN KEY (task) REFERENCES public.task(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_version
    ADD CONSTRAINT registry_version_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.result
    ADD CONSTRAINT result_task_fkey FOREIGN KEY (task) REFERENCES public.task(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.run_event
    ADD CONSTRAINT run_event_run_fkey FOREIGN KEY (run) REFERENCES public.run(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.run_item
    ADD CONSTRAINT run_item_run_fkey FOREIGN KEY (run) REFERENCES public.run(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.run_ledger
    ADD CONSTRAINT run_ledger_run_fkey FOREIGN KEY (run) REFERENCES public.run(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.seed_bed
    ADD CONSTRAINT seed_bed_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug) ON DELETE CASCADE;

ALTER TABLE ONLY public.seed
    ADD CONSTRAINT seed_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug);

ALTER TABLE ONLY public.seed_visit
    ADD CONSTRAINT seed_visit_seed_fkey FOREIGN KEY (seed) REFERENCES public.seed(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.session_base
    ADD CONSTRAINT session_base_account_fkey FOREIGN KEY (account) REFERENCES public.account(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.session_version
    ADD CONSTRAINT session_version_account_fkey FOREIGN KEY (account) REFERENCES public.account(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.site
    ADD CONSTRAINT site_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.task_event
    ADD CONSTRAINT task_event_task_fkey FOREIGN KEY (task) REFERENCES public.task(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_organisation_job_fkey FOREIGN KEY (organisation, job) REFERENCES public.job(organisation, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE faces.face ENABLE ROW LEVEL SECURITY;

ALTER TABLE faces.image ENABLE ROW LEVEL SECURITY;

ALTER TABLE faces.look ENABLE ROW LEVEL SECURITY;

ALTER TABLE faces.model ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON faces.face TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON faces.image TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON faces.look TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON faces.model TO leasehold_app USING ((organisation = public.current_organisation()));

ALTER TABLE public.account ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.account_secret ENABLE ROW LEVEL SECURITY;

CREATE POLICY across ON public.account TO leasehold_system USING (true);

CREATE POLICY across ON public.artifact TO leasehold_system USING (true);

CREATE POLICY across ON public.capture FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.clock_jump TO leasehold_system USING (true);

CREATE POLICY across ON public.dead_letter FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.entity FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.idempotency_key TO leasehold_system USING (true);

CREATE POLICY across ON public.job FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.lease TO leasehold_system USING (true);

CREATE POLICY across ON public.link_epoch TO leasehold_system USING (true);

CREATE POLICY across ON public.live_ticket TO leasehold_system USING (true);

CREATE POLICY across ON public.organisation TO leasehold_system USING (true);

CREATE POLICY across ON public.platform_breaker FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.platform_limit FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.platform_pause FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.platform_rate TO leasehold_system USING (true);

CREATE POLICY across ON public.publication TO leasehold_system USING (true);

CREATE POLICY across ON public.record_batch TO leasehold_system USING (true);

CREATE POLICY across ON public.record_queue TO leasehold_system USING (true);

CREATE POLICY across ON public.run TO leasehold_system USING (true);

CREATE POLICY across ON public.run_ledger FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.seed FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.source TO leasehold_system USING (true);

CREATE POLICY across ON public.source_record FOR SELECT TO leasehold_system USING (true);

CREATE POLICY across ON public.task TO leasehold_system USING (true);

CREATE POLICY across ON public.token TO leasehold_system USING (true);

CREATE POLICY across ON public.waiter TO leasehold_system USING (true);

ALTER TABLE public.alert ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.alert_message ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.artifact ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_event ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_seal ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.blob ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.capture ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.capture_file ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.clock_jump ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dead_letter ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.document_seen ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.edge ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.edge_part ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.entity ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.entity_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.external_file ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.graph_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.graph_writer ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.job ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.lease ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.lease_end ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.legacy_item ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.legacy_run ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.link_decision ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.link_epoch ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.link_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.live_ticket ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mount ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.move ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organisation ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organisation_setting ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON public.account TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.account_secret TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.alert TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.alert_message TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.audit_event TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.audit_seal TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.blob TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.capture TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.capture_file TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.dead_letter TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.document_seen TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.edge TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.edge_part TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.entity TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.entity_change TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.external_file TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.graph_count TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.graph_writer TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.idempotency_key TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.job TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.lease TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.lease_end TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.legacy_item TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.legacy_run TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.link_decision TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.link_epoch TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.link_key TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.live_ticket TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.mount TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.move TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.organisation TO leasehold_app USING ((id = public.current_organisation()));

CREATE POLICY own ON public.organisation_setting TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.platform_breaker TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.platform_limit TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.platform_pause TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.platform_phase TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.platform_tally TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.receipt TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.record_batch TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.record_dead_letter TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.record_queue TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.registry_version TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.replay TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.result TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.run TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.run_event TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.run_item TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.run_ledger TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.seed TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.seed_bed TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.seed_visit TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.session_base TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.session_version TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.site TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.source TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.source_dead_letter TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.source_record TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.source_sighting TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.suppression TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.suppression_key TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.task TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.task_event TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.token TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.waiter TO leasehold_app USING ((organisation = public.current_organisation()));

ALTER TABLE public.platform_breaker ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.platform_limit ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.platform_pause ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.platform_phase ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.platform_rate ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.platform_tally ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.publication ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.receipt ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.record_batch ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.record_dead_letter ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.record_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.registry_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.replay ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.result ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.run ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.run_event ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.run_item ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.run_ledger ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.seed ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.seed_bed ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.seed_visit ENABLE ROW LEVEL SECURITY;

CREATE POLICY seen ON public.clock_jump FOR SELECT TO leasehold_app USING (true);

ALTER TABLE public.session_base ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.session_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.site ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.source ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.source_dead_letter ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.source_record ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.source_sighting ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.suppression ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.suppression_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.task ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.task_event ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.token ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.waiter ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA faces TO leasehold_app;

REVOKE ALL ON FUNCTION faces.prepare(wanted bytea, dimension integer, metric text) FROM PUBLIC;
GRANT ALL ON FUNCTION faces.prepare(wanted bytea, dimension integer, metric text) TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.audit_event TO leasehold_app;

REVOKE ALL ON FUNCTION public.platform_limit_now(slug text, OUT concurrency integer, OUT rate_tasks integer, OUT rate_per_s double precision, OUT rate_burst integer, OUT since timestamp with time zone, OUT until timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.platform_limit_now(slug text, OUT concurrency integer, OUT rate_tasks integer, OUT rate_per_s double precision, OUT rate_burst integer, OUT since timestamp with time zone, OUT until timestamp with time zone) TO leasehold_app;

REVOKE ALL ON FUNCTION public.platform_load(slug text, OUT in_hand integer, OUT waiting integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.platform_load(slug text, OUT in_hand integer, OUT waiting integer) TO leasehold_app;

REVOKE ALL ON FUNCTION public.platform_queued_since(slug text, depth integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.platform_queued_since(slug text, depth integer) TO leasehold_app;

REVOKE ALL ON FUNCTION public.platform_rate_left(slug text, apart_s double precision, burst integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.platform_rate_room(slug text, apart_s double precision, burst integer, OUT room integer, OUT in_s double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION public.platform_rate_room(slug text, apart_s double precision, burst integer, OUT room integer, OUT in_s double precision) TO leasehold_app;

REVOKE ALL ON FUNCTION public.platform_rate_take(slug text, apart_s double precision, many integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.platform_rate_take(slug text, apart_s double precision, many integer) TO leasehold_app;

REVOKE ALL ON FUNCTION public.platform_rate_take(slug text, apart_s double precision, burst integer, many integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.platform_rate_take(slug text, apart_s double precision, burst integer, many integer) TO leasehold_app;

GRANT SELECT,INSERT,DELETE ON TABLE faces.face TO leasehold_app;

GRANT UPDATE(expires_at) ON TABLE faces.face TO leasehold_app;

GRANT SELECT,INSERT,DELETE ON TABLE faces.image TO leasehold_app;

GRANT UPDATE(expires_at) ON TABLE faces.image TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE faces.look TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE faces.model TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account TO leasehold_app;

GRANT SELECT(id) ON TABLE public.account TO leasehold_system;

GRANT SELECT(standing) ON TABLE public.account TO leasehold_system;

GRANT SELECT(cooling_until) ON TABLE public.account TO leasehold_system;

GRANT SELECT(lease) ON TABLE public.account TO leasehold_system;

GRANT SELECT(moved) ON TABLE public.account TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.lease TO leasehold_app;

GRANT SELECT(id) ON TABLE public.lease TO leasehold_system;

GRANT SELECT(kind) ON TABLE public.lease TO leasehold_system;

GRANT SELECT(ttl_seconds) ON TABLE public.lease TO leasehold_system;

GRANT SELECT(expires_at),UPDATE(expires_at) ON TABLE public.lease TO leasehold_system;

GRANT SELECT(moved) ON TABLE public.lease TO leasehold_system;

GRANT SELECT ON TABLE public.account_now TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_secret TO leasehold_app;

GRANT SELECT,INSERT,DELETE ON TABLE public.alert TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.alert_message TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.artifact TO leasehold_system;

GRANT SELECT,INSERT ON TABLE public.audit_seal TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.blob TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.capture TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.capture TO leasehold_system;

GRANT SELECT(received_at) ON TABLE public.capture TO leasehold_system;

GRANT SELECT(standing) ON TABLE public.capture TO leasehold_system;

GRANT SELECT(lease) ON TABLE public.capture TO leasehold_system;

GRANT SELECT,INSERT,DELETE ON TABLE public.capture_file TO leasehold_app;

GRANT SELECT ON TABLE public.capture_now TO leasehold_app;

GRANT SELECT ON TABLE public.clock_jump TO leasehold_app;
GRANT SELECT,INSERT ON TABLE public.clock_jump TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.dead_letter TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.dead_letter TO leasehold_system;

GRANT SELECT(at) ON TABLE public.dead_letter TO leasehold_system;

GRANT SELECT,INSERT ON TABLE public.document_seen TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.edge TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.edge_part TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.entity TO leasehold_app;

GRANT SELECT(id) ON TABLE public.entity TO leasehold_system;

GRANT SELECT(merged_into) ON TABLE public.entity TO leasehold_system;

GRANT SELECT,INSERT ON TABLE public.entity_change TO leasehold_app;

GRANT SELECT,INSERT,DELETE ON TABLE public.external_file TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.graph_count TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.graph_writer TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_key TO leasehold_app;
GRANT SELECT,DELETE ON TABLE public.idempotency_key TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.job TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.job TO leasehold_system;

GRANT SELECT(status) ON TABLE public.job TO leasehold_system;

GRANT SELECT(created_at) ON TABLE public.job TO leasehold_system;

GRANT SELECT(ended_at) ON TABLE public.job TO leasehold_system;

GRANT SELECT,INSERT ON TABLE public.lease_end TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.legacy_item TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.legacy_run TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.link_decision TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.link_epoch TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.link_epoch TO leasehold_system;

GRANT SELECT(kind) ON TABLE public.link_epoch TO leasehold_system;

GRANT SELECT(state) ON TABLE public.link_epoch TO leasehold_system;

GRANT SELECT,INSERT,DELETE ON TABLE public.link_key TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.live_ticket TO leasehold_app;
GRANT SELECT,DELETE ON TABLE public.live_ticket TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mount TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.move TO leasehold_app;

GRANT SELECT ON TABLE public.organisation TO leasehold_app;
GRANT SELECT,INSERT ON TABLE public.organisation TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.organisation_setting TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.platform_breaker TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.platform_breaker TO leasehold_system;

GRANT SELECT(platform) ON TABLE public.platform_breaker TO leasehold_system;

GRANT SELECT(probe_at) ON TABLE public.platform_breaker TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.platform_limit TO leasehold_app;

GRANT SELECT(platform) ON TABLE public.platform_limit TO leasehold_system;

GRANT SELECT(concurrency) ON TABLE public.platform_limit TO leasehold_system;

GRANT SELECT(rate_tasks) ON TABLE public.platform_limit TO leasehold_system;

GRANT SELECT(rate_per_s) ON TABLE public.platform_limit TO leasehold_system;

GRANT SELECT(rate_burst) ON TABLE public.platform_limit TO leasehold_system;

GRANT SELECT(since) ON TABLE public.platform_limit TO leasehold_system;

GRANT SELECT(until) ON TABLE public.platform_limit TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.platform_pause TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.platform_pause TO leasehold_system;

GRANT SELECT(platform) ON TABLE public.platform_pause TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.platform_phase TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.platform_rate TO leasehold_system;

GRANT SELECT,INSERT,DELETE ON TABLE public.platform_tally TO leasehold_app;

GRANT SELECT ON TABLE public.pool TO leasehold_app;
GRANT SELECT,UPDATE ON TABLE public.pool TO leasehold_system;

GRANT UPDATE(single) ON TABLE public.pool TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.publication TO leasehold_system;

GRANT SELECT,UPDATE ON TABLE public.readiness TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.receipt TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.record_batch TO leasehold_app;
GRANT DELETE ON TABLE public.record_batch TO leasehold_system;

GRANT SELECT(id) ON TABLE public.record_batch TO leasehold_system;

GRANT SELECT(done_at) ON TABLE public.record_batch TO leasehold_system;

GRANT SELECT,INSERT,DELETE ON TABLE public.record_dead_letter TO leasehold_app;

GRANT SELECT,INSERT,DELETE ON TABLE public.record_queue TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.record_queue TO leasehold_system;

GRANT SELECT(seq) ON TABLE public.record_queue TO leasehold_system;

GRANT SELECT(created_at) ON TABLE public.record_queue TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.registry_version TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.replay TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.result TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.run TO leasehold_app;

GRANT SELECT(id) ON TABLE public.run TO leasehold_system;

GRANT SELECT(organisation) ON TABLE public.run TO leasehold_system;

GRANT SELECT(status) ON TABLE public.run TO leasehold_system;

GRANT SELECT(sub_status) ON TABLE public.run TO leasehold_system;

GRANT SELECT(pause_reason) ON TABLE public.run TO leasehold_system;

GRANT SELECT(wanted_at) ON TABLE public.run TO leasehold_system;

GRANT SELECT(driver) ON TABLE public.run TO leasehold_system;

GRANT SELECT(driver_until) ON TABLE public.run TO leasehold_system;

GRANT SELECT,INSERT ON TABLE public.run_event TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.run_item TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.run_ledger TO leasehold_app;

GRANT SELECT(spent_micros) ON TABLE public.run_ledger TO leasehold_system;

GRANT SELECT(at) ON TABLE public.run_ledger TO leasehold_system;

GRANT SELECT ON TABLE public.schema_mark TO leasehold_app;
GRANT SELECT ON TABLE public.schema_mark TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.seed TO leasehold_app;

GRANT SELECT(interval_seconds) ON TABLE public.seed TO leasehold_system;

GRANT SELECT(next_due_at) ON TABLE public.seed TO leasehold_system;

GRANT SELECT(enabled) ON TABLE public.seed TO leasehold_system;

GRANT SELECT(lease) ON TABLE public.seed TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.seed_bed TO leasehold_app;

GRANT SELECT ON TABLE public.seed_now TO leasehold_app;

GRANT SELECT,INSERT,DELETE ON TABLE public.seed_visit TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.session_base TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.session_version TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.site TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.source TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.source TO leasehold_system;

GRANT SELECT(name) ON TABLE public.source TO leasehold_system;

GRANT SELECT(status) ON TABLE public.source TO leasehold_system;

GRANT SELECT(last_sweep) ON TABLE public.source TO leasehold_system;

GRANT SELECT(driver) ON TABLE public.source TO leasehold_system;

GRANT SELECT(driver_until) ON TABLE public.source TO leasehold_system;

GRANT SELECT,INSERT,DELETE ON TABLE public.source_dead_letter TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.source_record TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.source_record TO leasehold_system;

GRANT SELECT(node) ON TABLE public.source_record TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.source_sighting TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.suppression TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.suppression_key TO leasehold_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.task TO leasehold_app;

GRANT SELECT(organisation) ON TABLE public.task TO leasehold_system;

GRANT SELECT(platform) ON TABLE public.task TO leasehold_system;

GRANT SELECT(status) ON TABLE public.task TO leasehold_system;

GRANT SELECT(lease) ON TABLE public.task TO leasehold_system;

GRANT SELECT(not_before) ON TABLE public.task TO leasehold_system;

GRANT SELECT(deadline_at) ON TABLE public.task TO leasehold_system;

GRANT SELECT(ended_at) ON TABLE public.task TO leasehold_system;

GRANT SELECT(published_at) ON TABLE public.task TO leasehold_system;

GRANT SELECT,INSERT ON TABLE public.task_event TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.token TO leasehold_app;
GRANT SELECT ON TABLE public.token TO leasehold_system;

GRANT UPDATE(last_used_at) ON TABLE public.token TO leasehold_system;

GRANT UPDATE(revoked_at) ON TABLE public.token TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.waiter TO leasehold_app;
GRANT SELECT,DELETE,UPDATE ON TABLE public.waiter TO leasehold_system;
