-- Sources: how far each one's sweep has come, what was seen there, and what nobody could read.

CREATE TABLE source (
    organisation uuid NOT NULL,
    -- As its file is called.
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    status text NOT NULL DEFAULT 'idle' CHECK (status IN ('idle', 'sweeping', 'paused', 'failed')),
    -- Why a sweep asks for nothing just now: its rate, an error that passes, or a queue that is full.
    waiting_for text CHECK (waiting_for IN ('rate', 'retry', 'queue')),
    -- Where the sweep has come to; empty when none is under way. It changes in the transaction that hands records over.
    place jsonb,
    -- What was changed there until then is known: where an incremental sweep ends.
    watermark timestamptz,
    -- Of the sweep under way, or of the last one.
    seen bigint NOT NULL DEFAULT 0,
    pages bigint NOT NULL DEFAULT 0,
    handed bigint NOT NULL DEFAULT 0,
    gone bigint NOT NULL DEFAULT 0,
    errors bigint NOT NULL DEFAULT 0,
    expected bigint,
    -- Records in a second, measured from time to time.
    per_second real NOT NULL DEFAULT 0,
    measured_at timestamptz,
    measured_seen bigint NOT NULL DEFAULT 0,
    -- Requests in a minute that its bucket gives just now.
    rate_now real,
    started_at timestamptz,
    -- How the last sweep that came to its end went.
    last_sweep jsonb,
    last_error text,
    -- Who drives it: one process, on a lease with a fence like everything else.
    driver uuid,
    driver_fence bigint NOT NULL DEFAULT 0,
    driver_until timestamptz,
    PRIMARY KEY (organisation, name),
    CHECK (status <> 'sweeping' OR place IS NOT NULL),
    CHECK (waiting_for IS NULL OR status = 'sweeping')
) WITH (fillfactor = 60);
-- What somebody has to drive, over all organisations.
CREATE INDEX source_sweeping ON source (organisation, name) WHERE status = 'sweeping';

-- Each thing a source has, or had: what it was when it was last handed over, and when it was last seen.
CREATE TABLE source_sighting (
    organisation uuid NOT NULL,
    source text NOT NULL,
    source_id text NOT NULL,
    state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'deleted', 'merged')),
    merged_into text,
    -- Of the record that was handed over; one that is the same is not handed over again.
    digest bytea NOT NULL,
    sweep uuid NOT NULL,
    pass integer NOT NULL,
    PRIMARY KEY (organisation, source, source_id),
    CHECK (merged_into IS NULL OR state = 'merged')
) WITH (fillfactor = 80);

CREATE TABLE source_dead_letter (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    source text NOT NULL,
    source_id text,
    reason text NOT NULL,
    -- What came, as far as it is kept; keys are cut out.
    payload text NOT NULL,
    -- The same thing is told once, however often it is read.
    digest bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (organisation, source, digest)
);
CREATE INDEX source_dead_letter_by_time ON source_dead_letter (organisation, source, id);

ALTER TABLE source ENABLE ROW LEVEL SECURITY;
ALTER TABLE source FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON source TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON source TO leasehold_system USING (true);
ALTER TABLE source_sighting ENABLE ROW LEVEL SECURITY;
ALTER TABLE source_sighting FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON source_sighting TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE source_dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE source_dead_letter FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON source_dead_letter TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE ON source TO leasehold_app;
GRANT SELECT (organisation, name, status, driver, driver_until) ON source TO leasehold_system;
GRANT SELECT, INSERT, UPDATE, DELETE ON source_sighting TO leasehold_app;
GRANT SELECT, INSERT, DELETE ON source_dead_letter TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0019_sources');
