-- What steers jobs and platforms by hand: the jobs of a run are found at once, and limits are changed for a while.

CREATE INDEX job_of_run ON job (organisation, run_id, created_at, id) WHERE run_id IS NOT NULL;

-- What a platform bears for a while instead of what its file says. The limits are everybody's, and so is this, but for who
-- set it and why.
CREATE TABLE platform_limit (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    concurrency integer CHECK (concurrency > 0),
    rate_tasks integer CHECK (rate_tasks > 0),
    rate_per_s float8 CHECK (rate_per_s > 0),
    rate_burst integer CHECK (rate_burst > 0),
    by_name text NOT NULL,
    reason text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- From then on its file counts again, whether or not anybody takes the row away. Without it there is no end.
    until timestamptz,
    PRIMARY KEY (organisation, platform),
    CHECK (num_nulls(rate_tasks, rate_per_s, rate_burst) IN (0, 3)),
    CHECK (concurrency IS NOT NULL OR rate_tasks IS NOT NULL)
);

ALTER TABLE platform_limit ENABLE ROW LEVEL SECURITY;
ALTER TABLE platform_limit FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON platform_limit TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON platform_limit FOR SELECT TO leasehold_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON platform_limit TO leasehold_app;
GRANT SELECT (platform, concurrency, rate_tasks, rate_per_s, rate_burst, since, until) ON platform_limit TO leasehold_system;

-- What counts instead of the file just now; nothing but numbers and times is told of another organisation.
CREATE FUNCTION platform_limit_now(
    slug text, OUT concurrency integer, OUT rate_tasks integer, OUT rate_per_s float8, OUT rate_burst integer,
    OUT since timestamptz, OUT until timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
AS $$
    SELECT p.concurrency, p.rate_tasks, p.rate_per_s, p.rate_burst, p.since, p.until
      FROM platform_limit p
     WHERE p.platform = slug AND (p.until IS NULL OR p.until > clock_timestamp())
     ORDER BY p.since DESC
     LIMIT 1;
$$;

-- When `next_at` was counted, and how far apart tasks began then: at another rate the same tasks are another time.
ALTER TABLE platform_rate ADD COLUMN taken_at timestamptz, ADD COLUMN apart_s float8;

-- For how many seconds the tasks that began last keep others back. They are never more than a burst, however many more they
-- were before it was lowered.
CREATE FUNCTION platform_rate_left(slug text, apart_s float8, burst integer) RETURNS float8
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
AS $$
    SELECT coalesce(max(greatest(0, CASE
               WHEN r.taken_at IS NULL THEN extract(epoch FROM r.next_at - clock_timestamp())
               ELSE least(extract(epoch FROM r.next_at - r.taken_at) / r.apart_s, $3) * $2
                    - extract(epoch FROM clock_timestamp() - r.taken_at) END)), 0)::float8
      FROM platform_rate r
     WHERE r.platform = slug;
$$;
CREATE OR REPLACE FUNCTION platform_rate_room(slug text, apart_s float8, burst integer, OUT room integer, OUT in_s float8)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
AS $$
    SELECT greatest(0, floor(burst - left_s / $2))::int, greatest(0, left_s - (burst - 1) * $2)
      FROM (SELECT platform_rate_left(slug, $2, burst) AS left_s OFFSET 0) AS rate;
$$;
-- So many begin now.
CREATE FUNCTION platform_rate_take(slug text, apart_s float8, burst integer, many integer) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public
AS $$
    INSERT INTO platform_rate AS r (platform, next_at, taken_at, apart_s)
    SELECT slug, now.at + (platform_rate_left(slug, $2, burst) + many * $2) * interval '1 second', now.at, $2
      FROM (SELECT clock_timestamp() AS at OFFSET 0) AS now
        ON CONFLICT (platform) DO UPDATE
       SET next_at = excluded.next_at, taken_at = excluded.taken_at, apart_s = excluded.apart_s;
$$;
-- As the version before calls it, which knows of no burst here.
CREATE OR REPLACE FUNCTION platform_rate_take(slug text, apart_s float8, many integer) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public
AS $$
    SELECT platform_rate_take(slug, $2, 1000000, many);
$$;

GRANT CREATE ON SCHEMA public TO leasehold_system;
ALTER FUNCTION platform_limit_now OWNER TO leasehold_system;
ALTER FUNCTION platform_rate_left OWNER TO leasehold_system;
ALTER FUNCTION platform_rate_take (text, float8, integer, integer) OWNER TO leasehold_system;
REVOKE CREATE ON SCHEMA public FROM leasehold_system;
REVOKE ALL ON FUNCTION platform_limit_now FROM PUBLIC;
REVOKE ALL ON FUNCTION platform_rate_left FROM PUBLIC;
REVOKE ALL ON FUNCTION platform_rate_take (text, float8, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION platform_limit_now TO leasehold_app;
GRANT EXECUTE ON FUNCTION platform_rate_take (text, float8, integer, integer) TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0024_steering');
