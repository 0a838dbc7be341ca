-- How the visits of a seed went, one by one: what they found, and what became of the interval.

-- How often somebody has said how a visit went; the number of the latest.
ALTER TABLE seed ADD COLUMN visits integer NOT NULL DEFAULT 0;

-- Written by the statement that ends the visit, which now and then removes the oldest: a seed keeps its newest few.
CREATE TABLE seed_visit (
    organisation uuid NOT NULL,
    seed uuid NOT NULL REFERENCES seed (id) ON DELETE CASCADE,
    -- Counted from 1 for each seed. The order, whatever clocks did, and what tells the oldest without looking for it.
    number integer NOT NULL,
    at timestamptz NOT NULL,
    outcome text NOT NULL,
    -- How many new things; not set unless the visit went well.
    found integer,
    -- The interval until then, and what the visit made of it.
    previous_interval_seconds integer NOT NULL,
    interval_seconds integer NOT NULL,
    next_due_at timestamptz NOT NULL,
    -- Who held the lease, and why it went so, in their words.
    owner text NOT NULL,
    reason text,
    PRIMARY KEY (seed, number)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

ALTER TABLE seed_visit ENABLE ROW LEVEL SECURITY;
ALTER TABLE seed_visit FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON seed_visit TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, DELETE ON seed_visit TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0022_seed_visits');
