-- Limits of platforms: rates, breakers, canaries; and what tasks cost and how often they were put off.

-- Put off because something of ours was not to be had; no attempt of the platform's.
ALTER TABLE task ADD COLUMN snoozes integer NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN cost_micros bigint NOT NULL DEFAULT 0;
-- For workers that try out something new; the others leave it to them for a while.
ALTER TABLE task ADD COLUMN canary boolean NOT NULL DEFAULT false;

-- Who works on what was cancelled learns of it with the next heartbeat, and until then the platform has it in hand.
ALTER TABLE task DROP CONSTRAINT task_check1;
ALTER TABLE task ADD CONSTRAINT task_lease_while CHECK (lease IS NULL OR status IN ('dispatched', 'processing', 'cancelled'));

CREATE INDEX task_by_lease ON task (lease) WHERE lease IS NOT NULL;

-- When the next task of a platform may begin, over all organisations, if it had begun as many as it bears at once.
CREATE TABLE platform_rate (
    platform text PRIMARY KEY,
    next_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- What attempts came to, a row for each batch of results; old ones are removed.
CREATE TABLE platform_tally (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    platform text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    succeeded integer NOT NULL,
    failed integer NOT NULL
);
CREATE INDEX platform_tally_by_time ON platform_tally (organisation, platform, at);

-- A breaker that is open. A closed one has no row.
CREATE TABLE platform_breaker (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason text NOT NULL,
    -- Tried so often; the last of it with this task, the next not before then.
    probes integer NOT NULL DEFAULT 0,
    probe uuid,
    probe_at timestamptz NOT NULL,
    PRIMARY KEY (organisation, platform)
);

ALTER TABLE platform_rate ENABLE ROW LEVEL SECURITY;
ALTER TABLE platform_rate FORCE ROW LEVEL SECURITY;
CREATE POLICY across ON platform_rate TO leasehold_system USING (true);
ALTER TABLE platform_tally ENABLE ROW LEVEL SECURITY;
ALTER TABLE platform_tally FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON platform_tally TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE platform_breaker ENABLE ROW LEVEL SECURITY;
ALTER TABLE platform_breaker FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON platform_breaker TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE ON platform_rate TO leasehold_system;
GRANT SELECT, INSERT, DELETE ON platform_tally TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON platform_breaker TO leasehold_app;

-- How many tasks a platform's rate lets begin now, and in how many seconds one more: a number is all one learns of others.
CREATE FUNCTION platform_rate_room(slug text, apart_s float8, burst integer, OUT room integer, OUT in_s float8)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
AS $$
    SELECT greatest(0, floor(burst - left_s / apart_s))::int, greatest(0, left_s - (burst - 1) * apart_s)
      FROM (SELECT greatest(0, extract(epoch FROM coalesce(max(next_at), clock_timestamp()) - clock_timestamp()))::float8
                   AS left_s
              FROM platform_rate
             WHERE platform = slug) AS rate;
$$;
-- So many begin now.
CREATE FUNCTION platform_rate_take(slug text, apart_s float8, many integer) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public
AS $$
    INSERT INTO platform_rate AS r (platform, next_at)
    VALUES (slug, clock_timestamp() + many * apart_s * interval '1 second')
        ON CONFLICT (platform) DO UPDATE
       SET next_at = greatest(r.next_at, clock_timestamp()) + many * apart_s * interval '1 second';
$$;
GRANT CREATE ON SCHEMA public TO leasehold_system;
ALTER FUNCTION platform_rate_room OWNER TO leasehold_system;
ALTER FUNCTION platform_rate_take OWNER TO leasehold_system;
REVOKE CREATE ON SCHEMA public FROM leasehold_system;
REVOKE ALL ON FUNCTION platform_rate_room FROM PUBLIC;
REVOKE ALL ON FUNCTION platform_rate_take FROM PUBLIC;
GRANT EXECUTE ON FUNCTION platform_rate_room TO leasehold_app;
GRANT EXECUTE ON FUNCTION platform_rate_take TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0015_limits');
