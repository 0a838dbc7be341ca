-- Captures: what visits brought home, where its bytes are, and how far it has been handed on.

-- Bytes in the blob store, once for each content of an organisation. The row is there before the bytes are, and the bytes
-- go before the row does.
CREATE TABLE blob (
    organisation uuid NOT NULL,
    sha256 bytea NOT NULL CHECK (length(sha256) = 32),
    size bigint NOT NULL CHECK (size >= 0),
    -- Whether a capture has it. What none has is swept some time after it was last claimed.
    in_use boolean NOT NULL DEFAULT false,
    -- When somebody last said that these bytes are about to be put in place.
    claimed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, sha256)
);
CREATE INDEX blob_unused ON blob (organisation, claimed_at) WHERE NOT in_use;

CREATE TABLE capture (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    site text NOT NULL,
    -- As it was fetched. Evidence: it is never rewritten.
    url text NOT NULL,
    -- The URL as the site knew it when it was captured; NULL when it was no URL of this site then.
    sub text,
    rest text,
    captured_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- What it came from, as its sender says.
    seed uuid,
    account uuid,
    job_id text,
    source_lease uuid,
    -- The lease it was collected under had ended when it arrived.
    late boolean NOT NULL,
    labels jsonb NOT NULL DEFAULT '{}',
    size bigint NOT NULL,
    -- How far it has been handed on. Whether somebody has claimed it is not said here but follows from the lease.
    standing text NOT NULL DEFAULT 'received' CHECK (standing IN ('received', 'delivered', 'rejected', 'stuck')),
    -- Hand-offs in a row that failed or ran out.
    failures integer NOT NULL DEFAULT 0,
    -- What the last consumer said, where it is set aside.
    reason text,
    -- The number of the last grant.
    fence bigint NOT NULL DEFAULT 0,
    -- Who has claimed it: a row of `lease`, live or run out and not settled yet.
    lease uuid,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((sub IS NULL) = (rest IS NULL)),
    CHECK (lease IS NULL OR standing = 'received'),
    FOREIGN KEY (organisation, site) REFERENCES site (organisation, slug)
) WITH (fillfactor = 85);
-- What waits to be handed on, in its order.
CREATE INDEX capture_waiting ON capture (organisation, received_at, id) WHERE standing = 'received' AND lease IS NULL;
CREATE INDEX capture_waiting_at_site ON capture (organisation, site, received_at, id)
    WHERE standing = 'received' AND lease IS NULL;
CREATE INDEX capture_claimed ON capture (organisation, lease) WHERE lease IS NOT NULL;
CREATE INDEX capture_by_time ON capture (organisation, received_at, id);
CREATE INDEX capture_of_site ON capture (organisation, site, received_at, id);
CREATE INDEX capture_standing ON capture (organisation, standing);
-- A URL may be longer than an index takes.
CREATE INDEX capture_of_url ON capture (organisation, site, hashtextextended(rest, 0)) WHERE rest IS NOT NULL;

CREATE TABLE capture_file (
    capture uuid NOT NULL REFERENCES capture ON DELETE CASCADE,
    organisation uuid NOT NULL,
    -- Its place in the upload.
    place integer NOT NULL,
    name text NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    content_type text NOT NULL,
    -- The bytes were there already when it came.
    deduplicated boolean NOT NULL,
    PRIMARY KEY (capture, name),
    -- Whatever else goes wrong, bytes that a capture has are not swept.
    FOREIGN KEY (organisation, sha256) REFERENCES blob (organisation, sha256)
);
CREATE INDEX capture_file_of_blob ON capture_file (organisation, sha256);

-- A capture as callers see it: with what follows from its lease and the clock. One hand-off that ran out counts as failed
-- although nobody has booked it yet.
CREATE VIEW capture_now WITH (security_invoker = true) AS
SELECT c.organisation, c.id, c.site, c.url, c.sub, c.rest, c.captured_at, c.received_at, c.seed, c.account, c.job_id,
       c.source_lease, c.late, c.labels, c.size, c.updated_at,
       CASE
           WHEN l.expires_at > clock_timestamp() THEN 'claimed'
           WHEN l.id IS NOT NULL AND c.failures + 1 >= 5 THEN 'stuck'
           ELSE c.standing
       END AS state,
       c.failures + (l.expires_at <= clock_timestamp() IS TRUE)::int AS failures, c.reason,
       CASE WHEN l.expires_at > clock_timestamp() THEN l.owner END AS holder,
       CASE WHEN l.expires_at > clock_timestamp() THEN l.id END AS lease_id,
       CASE WHEN l.expires_at > clock_timestamp() THEN l.expires_at END AS expires_at
  FROM capture c
  LEFT JOIN lease l ON l.id = c.lease;

ALTER TABLE blob ENABLE ROW LEVEL SECURITY;
ALTER TABLE blob FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON blob TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE capture ENABLE ROW LEVEL SECURITY;
ALTER TABLE capture FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON capture TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE capture_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE capture_file FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON capture_file TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE, DELETE ON blob TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON capture TO leasehold_app;
GRANT SELECT, INSERT, DELETE ON capture_file TO leasehold_app;
GRANT SELECT ON capture_now TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0006_captures');
