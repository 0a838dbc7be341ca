-- Jobs: requests for crawls and their lives. A task is what one platform has to do for a job.

CREATE TABLE job (
    organisation uuid NOT NULL,
    -- The producer's own name for it, or ours.
    id text NOT NULL CHECK (length(id) BETWEEN 1 AND 200),
    task_type text NOT NULL,
    platforms text[] NOT NULL CHECK (cardinality(platforms) >= 1),
    payload jsonb NOT NULL,
    time_range jsonb,
    priority smallint NOT NULL CHECK (priority BETWEEN 0 AND 9),
    trace_ctx jsonb,
    metadata jsonb,
    run_id text,
    -- What came along that we do not know: kept, for whoever does.
    more jsonb NOT NULL DEFAULT '{}',
    -- As its tasks say together. Kept here so that jobs can be found by it.
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'dispatched', 'processing', 'completed',
        'failed', 'timed_out', 'partial', 'cancelled')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    deadline_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (organisation, id),
    CHECK ((ended_at IS NULL) = (status IN ('pending', 'dispatched', 'processing')))
) WITH (fillfactor = 80);
CREATE INDEX job_by_time ON job (organisation, created_at, id);
CREATE INDEX job_by_status ON job (organisation, status, created_at, id);

CREATE TABLE task (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    job text NOT NULL,
    platform text NOT NULL,
    task_type text NOT NULL,
    priority smallint NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'dispatched', 'processing', 'completed',
        'failed', 'timed_out', 'cancelled')),
    -- Why it is where it is: `retrying`, `lost`, `writing` and the like.
    sub_status text,
    -- Grows when the platform failed. What our own machinery lost raises the fence and `losses` alone.
    attempt integer NOT NULL DEFAULT 1,
    max_attempts integer NOT NULL,
    losses integer NOT NULL DEFAULT 0,
    -- The number of the last grant.
    fence bigint NOT NULL DEFAULT 0,
    -- Who works on it: a row of `lease`, live or run out and not settled yet; and when that has to be looked at.
    lease uuid,
    back_at timestamptz,
    not_before timestamptz NOT NULL DEFAULT clock_timestamp(),
    deadline_at timestamptz NOT NULL,
    -- The furthest of what came, given back to whoever goes on.
    cursor jsonb,
    -- Which messages of the present attempt came, and how many there are, once the last one has said so.
    seen int4multirange NOT NULL DEFAULT '{}',
    final_seq integer,
    final_status text CHECK (final_status IN ('success', 'skipped')),
    result_count integer NOT NULL DEFAULT 0,
    last_error jsonb,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    begun_at timestamptz,
    ended_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (organisation, job, platform),
    FOREIGN KEY (organisation, job) REFERENCES job ON DELETE CASCADE,
    CHECK ((ended_at IS NULL) = (status IN ('pending', 'dispatched', 'processing'))),
    CHECK (lease IS NULL OR status IN ('dispatched', 'processing'))
) WITH (fillfactor = 70);
-- What waits for a worker, in its order.
CREATE INDEX task_waiting ON task (organisation, platform, priority DESC, created_at, id) WHERE status = 'pending';
CREATE INDEX task_next ON task (organisation, platform, not_before) WHERE status = 'pending';
CREATE INDEX task_due ON task (organisation, back_at) WHERE back_at IS NOT NULL;
CREATE INDEX task_deadline ON task (organisation, deadline_at) WHERE ended_at IS NULL;
CREATE INDEX task_of_platform ON task (organisation, platform, status);
-- Across organisations: what is in hand at a platform, and who waits for it.
CREATE INDEX task_held ON task (platform) WHERE lease IS NOT NULL;
CREATE INDEX task_rivals ON task (platform, organisation) WHERE status = 'pending';

-- What became of a task, step by step.
CREATE TABLE task_event (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    task uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event text NOT NULL,
    attempt integer NOT NULL,
    fence bigint NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX task_event_of_task ON task_event (organisation, task, at, id);

-- A chunk of results that was accepted: there is one for each cursor of a task, whoever brought it.
CREATE TABLE receipt (
    task uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    organisation uuid NOT NULL,
    -- The digest of the cursor, which may be longer than an index takes.
    key bytea NOT NULL CHECK (length(key) = 16),
    cursor jsonb NOT NULL,
    -- In the order of arrival.
    number bigint GENERATED ALWAYS AS IDENTITY,
    attempt integer NOT NULL,
    fence bigint NOT NULL,
    sha256 bytea NOT NULL CHECK (length(sha256) = 32),
    documents integer NOT NULL,
    -- Brought by an attempt that was superseded by then.
    late boolean NOT NULL,
    -- Until the writer has confirmed them; then they are where the writer put them.
    chunk jsonb,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    written_at timestamptz,
    PRIMARY KEY (task, key),
    CHECK ((chunk IS NULL) = (written_at IS NOT NULL))
);
CREATE INDEX receipt_of_task ON receipt (organisation, task, number);
CREATE INDEX receipt_unwritten ON receipt (organisation, number) WHERE written_at IS NULL;

-- Documents, where the writer is PostgreSQL.
CREATE TABLE result (
    task uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    organisation uuid NOT NULL,
    key bytea NOT NULL,
    number bigint NOT NULL,
    place integer NOT NULL,
    document jsonb NOT NULL,
    PRIMARY KEY (task, key, place)
);
CREATE INDEX result_of_task ON result (organisation, task, number, place);

-- What could not be done, with all it takes to do it again.
CREATE TABLE dead_letter (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    platform text,
    job text,
    task uuid,
    attempt integer,
    reason text NOT NULL,
    detail text,
    payload jsonb NOT NULL,
    replayed_at timestamptz
);
CREATE INDEX dead_letter_by_time ON dead_letter (organisation, at, id);
CREATE INDEX dead_letter_of_platform ON dead_letter (organisation, platform, reason, at, id);

-- What operators say of a platform. What it can bear is in its file.
CREATE TABLE platform_pause (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    paused_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    by_name text NOT NULL,
    reason text,
    PRIMARY KEY (organisation, platform)
);

ALTER TABLE job ENABLE ROW LEVEL SECURITY;
ALTER TABLE job FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON job TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE task ENABLE ROW LEVEL SECURITY;
ALTER TABLE task FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON task TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON task TO leasehold_system USING (true);
ALTER TABLE task_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_event FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON task_event TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE receipt ENABLE ROW LEVEL SECURITY;
ALTER TABLE receipt FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON receipt TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE result ENABLE ROW LEVEL SECURITY;
ALTER TABLE result FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON result TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE dead_letter FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON dead_letter TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE platform_pause ENABLE ROW LEVEL SECURITY;
ALTER TABLE platform_pause FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON platform_pause TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE ON job TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON task TO leasehold_app;
GRANT SELECT (organisation, platform, status, lease) ON task TO leasehold_system;
GRANT SELECT, INSERT ON task_event TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON receipt TO leasehold_app;
GRANT SELECT, INSERT ON result TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON dead_letter TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON platform_pause TO leasehold_app;

-- What a platform has in hand, over all organisations, and how many of them wait for it: two numbers are all that one may
-- learn of another. The second steps from one organisation to the next, however much each of them has.
CREATE FUNCTION platform_load(slug text, OUT in_hand integer, OUT waiting integer)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
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
           (SELECT count(organisation)::int FROM step);
$$;
-- A function can be given only to who may make one here.
GRANT CREATE ON SCHEMA public TO leasehold_system;
ALTER FUNCTION platform_load OWNER TO leasehold_system;
REVOKE CREATE ON SCHEMA public FROM leasehold_system;
REVOKE ALL ON FUNCTION platform_load FROM PUBLIC;
GRANT EXECUTE ON FUNCTION platform_load TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0010_jobs');
