-- Artefacts: whose turn it is to publish, what was published last, and what a publisher may count across organisations.

CREATE TABLE publication (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    -- When the next edition is wanted. The first is a moment after the first start, which has more urgent things to do.
    due_at timestamptz NOT NULL DEFAULT clock_timestamp() + interval '5 seconds',
    -- Who publishes just now, and until when nobody else does.
    holder uuid,
    until timestamptz,
    -- The number of the edition: grows with every turn.
    edition bigint NOT NULL DEFAULT 0,
    -- Why the last turn brought nothing; empty when it did.
    last_error text,
    last_error_at timestamptz,
    CHECK ((holder IS NULL) = (until IS NULL)),
    CHECK ((last_error IS NULL) = (last_error_at IS NULL))
);

CREATE TABLE artifact (
    name text PRIMARY KEY,
    schema text NOT NULL,
    version integer NOT NULL,
    -- Below the root of where artefacts are.
    path text NOT NULL,
    edition bigint NOT NULL,
    published_at timestamptz NOT NULL,
    bytes bigint NOT NULL,
    -- The SHA-256 of the file.
    etag text NOT NULL
);

-- Jobs that ended in the last day, and money that was spent today, are found without reading all there ever was.
CREATE INDEX job_by_end ON job (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX run_ledger_by_time ON run_ledger USING brin (at) WITH (autosummarize = on);

-- Of no organisation, and none sees them.
ALTER TABLE publication ENABLE ROW LEVEL SECURITY;
ALTER TABLE publication FORCE ROW LEVEL SECURITY;
CREATE POLICY across ON publication TO leasehold_system USING (true);
ALTER TABLE artifact ENABLE ROW LEVEL SECURITY;
ALTER TABLE artifact FORCE ROW LEVEL SECURITY;
CREATE POLICY across ON artifact TO leasehold_system USING (true);
GRANT SELECT, INSERT, UPDATE ON publication TO leasehold_system;
GRANT SELECT, INSERT, UPDATE ON artifact TO leasehold_system;

-- To be counted: states and times, and never a name.
CREATE POLICY across ON seed FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON job FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON capture FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON dead_letter FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON run_ledger FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON entity FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON source_record FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON platform_pause FOR SELECT TO leasehold_system USING (true);
CREATE POLICY across ON platform_breaker FOR SELECT TO leasehold_system USING (true);
GRANT SELECT (standing, cooling_until, lease, moved) ON account TO leasehold_system;
GRANT SELECT (kind) ON lease TO leasehold_system;
GRANT SELECT (enabled, next_due_at, interval_seconds, lease) ON seed TO leasehold_system;
GRANT SELECT (organisation, status, created_at, ended_at) ON job TO leasehold_system;
GRANT SELECT (not_before, ended_at) ON task TO leasehold_system;
GRANT SELECT (organisation, standing, lease, received_at) ON capture TO leasehold_system;
GRANT SELECT (organisation, at) ON dead_letter TO leasehold_system;
GRANT SELECT (pause_reason) ON run TO leasehold_system;
GRANT SELECT (spent_micros, at) ON run_ledger TO leasehold_system;
GRANT SELECT (id, merged_into) ON entity TO leasehold_system;
GRANT SELECT (organisation, node) ON source_record TO leasehold_system;
GRANT SELECT (last_sweep) ON source TO leasehold_system;
GRANT SELECT (organisation) ON platform_pause TO leasehold_system;
GRANT SELECT (organisation) ON platform_breaker TO leasehold_system;

INSERT INTO schema_mark (name) VALUES ('0020_artifacts');
