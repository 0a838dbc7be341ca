-- Budgeted runs: what an organisation allows, runs with their items, the ledger, and numbered events; sellers as entities.

CREATE TABLE organisation_setting (
    organisation uuid PRIMARY KEY,
    budget_cap_micros bigint NOT NULL DEFAULT 25000000 CHECK (budget_cap_micros >= 0),
    soft_warning_percent smallint NOT NULL DEFAULT 80 CHECK (soft_warning_percent BETWEEN 1 AND 100),
    max_concurrent_runs smallint NOT NULL DEFAULT 3 CHECK (max_concurrent_runs BETWEEN 1 AND 1000)
);

CREATE TABLE run (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    collector text NOT NULL,
    platform text NOT NULL,
    categories text[] NOT NULL CHECK (cardinality(categories) >= 1),
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'paused', 'completed', 'failed',
        'cancelled')),
    -- On its way to the status: `waiting` for a slot, or winding down what is in hand.
    sub_status text CHECK (sub_status IN ('waiting', 'pausing', 'cancelling')),
    pause_reason text CHECK (pause_reason IN ('operator', 'budget', 'provider_down', 'failures')),
    pause_detail text,
    -- What it was thought to cost, category by category, and by which prices.
    estimate jsonb NOT NULL,
    estimated_cost_micros bigint NOT NULL,
    budget_cap_micros bigint NOT NULL,
    -- Somebody has set the cap for this run; it is not copied from the organisation's at the start.
    has_own_cap boolean NOT NULL DEFAULT false,
    soft_warning_percent smallint NOT NULL,
    -- The cap whose soft limit was passed and told of; a higher one is told of again.
    warned_cap_micros bigint,
    spent_micros bigint NOT NULL DEFAULT 0 CHECK (spent_micros >= 0),
    reserved_micros bigint NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
    total_items bigint NOT NULL,
    processed_items bigint NOT NULL DEFAULT 0,
    failed_items bigint NOT NULL DEFAULT 0,
    skipped_items bigint NOT NULL DEFAULT 0,
    -- Where enumeration has come to: {category index, cursor of its provider, place within the page, items known}.
    place jsonb NOT NULL DEFAULT '{}',
    checkpoint_at timestamptz,
    -- Of the latest items, for the ceiling of failures; begins anew with each resume.
    recent_items integer NOT NULL DEFAULT 0,
    recent_failed integer NOT NULL DEFAULT 0,
    warnings jsonb NOT NULL DEFAULT '[]',
    last_seq bigint NOT NULL DEFAULT 0,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When it asked for a slot; it is served in this order.
    wanted_at timestamptz,
    started_at timestamptz,
    paused_at timestamptz,
    completed_at timestamptz,
    -- Not before then does it go on by itself, so that many do not go on at once.
    resume_at timestamptz,
    -- Who drives it: one process, on a lease with a fence like everything else.
    driver uuid,
    driver_fence bigint NOT NULL DEFAULT 0,
    driver_until timestamptz,
    CONSTRAINT run_within_its_cap CHECK (spent_micros + reserved_micros <= budget_cap_micros),
    CHECK ((status = 'paused') = (pause_reason IS NOT NULL)),
    CHECK ((completed_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled')))
) WITH (fillfactor = 60);
CREATE INDEX run_by_time ON run (organisation, created_at, id);
-- What somebody has to drive, over all organisations.
CREATE INDEX run_live ON run (organisation, wanted_at, id)
    WHERE status IN ('running', 'paused') OR sub_status IS NOT NULL;

CREATE TABLE run_item (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    run uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    category text NOT NULL,
    item_type text NOT NULL,
    external_id text NOT NULL,
    status text NOT NULL DEFAULT 'processing' CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'skipped')),
    data jsonb NOT NULL DEFAULT '{}',
    error_code text,
    error_message text,
    reserved_micros bigint NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
    cost_micros bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
    job text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (run, category, external_id)
) WITH (fillfactor = 80);
CREATE INDEX run_item_of_run ON run_item (organisation, run, id);
CREATE INDEX run_item_by_status ON run_item (organisation, run, status, id);
CREATE INDEX run_item_collected ON run_item (organisation, category, external_id, id) WHERE status = 'completed';

-- Every movement of money, in its order. Nothing here is ever changed.
CREATE TABLE run_ledger (
    organisation uuid NOT NULL,
    run uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    number bigint GENERATED ALWAYS AS IDENTITY,
    item uuid,
    kind text NOT NULL CHECK (kind IN ('reserve', 'settle', 'return')),
    -- What it was for: an item, or a page of its listing.
    purpose text NOT NULL CHECK (purpose IN ('item', 'listing')),
    -- How much less is free by it, how much more is spent.
    reserved_micros bigint NOT NULL,
    spent_micros bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (run, number)
);
CREATE INDEX run_ledger_of_run ON run_ledger (organisation, run, number);

CREATE TABLE run_event (
    organisation uuid NOT NULL,
    run uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    seq bigint NOT NULL,
    type text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    data jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (run, seq)
);
CREATE INDEX run_event_of_run ON run_event (organisation, run, seq);

-- One use each, within half a minute.
CREATE TABLE live_ticket (
    digest bytea PRIMARY KEY CHECK (length(digest) = 32),
    organisation uuid NOT NULL,
    token uuid,
    ends_at timestamptz NOT NULL
);

CREATE TABLE entity (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    -- What makes two of them one: for a seller its normalised name and the platform.
    key text NOT NULL,
    aliases text[] NOT NULL DEFAULT '{}',
    external_ids jsonb NOT NULL DEFAULT '{}',
    urls jsonb NOT NULL DEFAULT '{}',
    attributes jsonb NOT NULL DEFAULT '{}',
    times_seen bigint NOT NULL DEFAULT 0,
    first_seen_run uuid,
    last_seen_run uuid,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (organisation, kind, key)
) WITH (fillfactor = 80);
CREATE INDEX entity_by_time ON entity (organisation, kind, id);

ALTER TABLE organisation_setting ENABLE ROW LEVEL SECURITY;
ALTER TABLE organisation_setting FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON organisation_setting TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE run ENABLE ROW LEVEL SECURITY;
ALTER TABLE run FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON run TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON run TO leasehold_system USING (true);
ALTER TABLE run_item ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_item FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON run_item TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE run_ledger ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_ledger FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON run_ledger TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE run_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_event FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON run_event TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE live_ticket ENABLE ROW LEVEL SECURITY;
ALTER TABLE live_ticket FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON live_ticket TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON live_ticket TO leasehold_system USING (true);
ALTER TABLE entity ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON entity TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE ON organisation_setting TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON run TO leasehold_app;
GRANT SELECT (id, organisation, status, sub_status, driver, driver_until, wanted_at) ON run TO leasehold_system;
GRANT SELECT, INSERT, UPDATE ON run_item TO leasehold_app;
GRANT SELECT, INSERT ON run_ledger TO leasehold_app;
GRANT SELECT, INSERT ON run_event TO leasehold_app;
GRANT SELECT, INSERT ON live_ticket TO leasehold_app;
GRANT SELECT, DELETE ON live_ticket TO leasehold_system;
GRANT SELECT, INSERT, UPDATE ON entity TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0016_runs');
