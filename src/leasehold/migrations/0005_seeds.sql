-- Seeds: addresses to be visited again and again. And a queue of waiters that knows what each waits for.

ALTER TABLE waiter
    -- What they wait for. The site of one that takes something of any site is empty.
    ADD COLUMN kind text NOT NULL DEFAULT 'account';

CREATE TABLE seed (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    site text NOT NULL,
    -- Where it is as seen from the site, whatever address that has: the subdomain, and path, query and fragment.
    sub text NOT NULL,
    rest text NOT NULL,
    -- A digest of both: what makes it one of a kind, and short enough for an index.
    reference bytea NOT NULL,
    -- As somebody gave it.
    original_url text NOT NULL,
    kind text NOT NULL DEFAULT 'page',
    priority integer NOT NULL DEFAULT 50 CHECK (priority BETWEEN 0 AND 100),
    -- How long between two visits; adapts to what is found, within the bounds.
    interval_seconds integer NOT NULL DEFAULT 3600,
    min_interval_seconds integer NOT NULL DEFAULT 60 CHECK (min_interval_seconds > 0),
    max_interval_seconds integer NOT NULL DEFAULT 1209600,
    next_due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- What the last visit left for the next.
    cursor jsonb,
    labels jsonb NOT NULL DEFAULT '{}',
    -- Not set: it is left alone, because an operator said so or because it is gone.
    enabled boolean NOT NULL DEFAULT true,
    consecutive_failures integer NOT NULL DEFAULT 0,
    last_outcome text,
    -- How many new things the last good visit found.
    last_found integer,
    last_visited_at timestamptz,
    -- The number of the last grant.
    fence bigint NOT NULL DEFAULT 0,
    -- Who holds it: a row of `lease`, live or run out and not settled yet.
    lease uuid,
    -- When to look whether that lease has run out.
    back_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT seed_address UNIQUE (organisation, site, reference),
    CHECK (interval_seconds BETWEEN min_interval_seconds AND max_interval_seconds),
    CHECK ((lease IS NULL) = (back_at IS NULL)),
    FOREIGN KEY (organisation, site) REFERENCES site (organisation, slug)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- The free ones of a bed, in the order they are handed out.
CREATE INDEX seed_free ON seed (organisation, site, priority, next_due_at, id) WHERE enabled AND lease IS NULL;
CREATE INDEX seed_back ON seed (organisation, back_at) WHERE back_at IS NOT NULL;
CREATE INDEX seed_of_site ON seed (organisation, site, id);
-- Few, and counted whenever somebody finds nothing.
CREATE INDEX seed_off ON seed (organisation, site) WHERE NOT enabled;

-- The seeds of one site and priority. A few rows for each site tell where something is due, however many seeds there are.
CREATE TABLE seed_bed (
    organisation uuid NOT NULL,
    site text NOT NULL,
    priority integer NOT NULL,
    -- Never later than the first of its free seeds falls due; raised by whoever looked and found nothing so early.
    head_due_at timestamptz NOT NULL,
    -- When one of its seeds was last handed out: its turn among the sites, and the site's minimum interval.
    served_at timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (organisation, site, priority),
    FOREIGN KEY (organisation, site) REFERENCES site (organisation, slug) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Whoever frees or advances a seed, by whatever statement, lets its bed know. The row is locked even when it says so
-- already: else somebody who has just looked could raise it past a seed that is about to be committed.
CREATE FUNCTION lower_seed_beds() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER seed_was_added AFTER INSERT ON seed
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lower_seed_beds();
CREATE TRIGGER seed_was_changed AFTER UPDATE ON seed
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION lower_seed_beds();

-- A seed as callers see it: with what follows from its lease and the clock.
CREATE VIEW seed_now WITH (security_invoker = true) AS
SELECT s.organisation, s.id, s.site, s.sub, s.rest, s.original_url, s.kind, s.priority, s.interval_seconds,
       s.min_interval_seconds, s.max_interval_seconds, s.next_due_at, s.cursor, s.labels, s.enabled,
       s.consecutive_failures, s.last_outcome, s.last_found, s.last_visited_at, s.created_at, s.updated_at,
       l.owner AS holder, l.id AS lease_id, l.expires_at, s.fence
  FROM seed s
  LEFT JOIN lease l ON l.id = s.lease AND l.expires_at > clock_timestamp();

ALTER TABLE seed ENABLE ROW LEVEL SECURITY;
ALTER TABLE seed FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON seed TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE seed_bed ENABLE ROW LEVEL SECURITY;
ALTER TABLE seed_bed FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON seed_bed TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE, DELETE ON seed TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON seed_bed TO leasehold_app;
GRANT SELECT ON seed_now TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0005_seeds');
