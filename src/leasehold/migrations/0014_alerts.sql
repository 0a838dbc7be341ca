-- What is told to the outside: leases that end with their job, and alerts on their way to an operator.

-- Leases were taken for it: whoever ends it ends those, and until that is done this is the note that it has to be.
ALTER TABLE job ADD COLUMN has_leases boolean NOT NULL DEFAULT false;
CREATE INDEX job_with_leases ON job (organisation, ended_at) WHERE has_leases;
CREATE INDEX lease_of_job ON lease (organisation, job_id) WHERE job_id IS NOT NULL;

-- Something an operator wants to know. Only added and taken away again: who raises an alert never waits for another.
CREATE TABLE alert (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    platform text,
    reason text,
    count integer NOT NULL CHECK (count >= 1),
    -- Some of the jobs it is about.
    job_ids text[] NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX alert_by_time ON alert (organisation, at);

-- Alerts of one kind, platform and reason, told together.
CREATE TABLE alert_message (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    platform text,
    reason text,
    count integer NOT NULL,
    job_ids text[] NOT NULL,
    -- When the last of them was raised.
    at timestamptz NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries integer NOT NULL DEFAULT 0,
    -- When it is to be sent; while somebody sends it, when another may.
    due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Kept for a while, so that the next one on the same is not sent too soon.
    sent_at timestamptz
);
CREATE INDEX alert_message_by_time ON alert_message (organisation, made_at);
CREATE INDEX alert_message_due ON alert_message (organisation, due_at) WHERE sent_at IS NULL;

ALTER TABLE alert ENABLE ROW LEVEL SECURITY;
ALTER TABLE alert FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON alert TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE alert_message ENABLE ROW LEVEL SECURITY;
ALTER TABLE alert_message FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON alert_message TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, DELETE ON alert TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_message TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0014_alerts');
