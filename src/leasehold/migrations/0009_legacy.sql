-- What was brought out of an older system: files whose bytes stayed there, old ids, and how far an import has come.

-- A file of a capture that was imported as a record: what the old system said of it. There is no blob, so nothing that
-- sweeps or reads blobs again ever looks for these bytes.
CREATE TABLE external_file (
    capture uuid NOT NULL REFERENCES capture ON DELETE CASCADE,
    organisation uuid NOT NULL,
    -- Its place in the old record.
    place integer NOT NULL,
    name text NOT NULL,
    sha256 bytea NOT NULL CHECK (length(sha256) = 32),
    size bigint NOT NULL CHECK (size >= 0),
    content_type text NOT NULL,
    -- Where the bytes were, as the old record says.
    location text,
    PRIMARY KEY (capture, name)
);

-- What became of a document of the old system.
CREATE TABLE legacy_item (
    organisation uuid NOT NULL REFERENCES organisation,
    kind text NOT NULL CHECK (kind IN ('site', 'capture', 'event')),
    -- What the old system calls it, as text.
    legacy_id text COLLATE "C" NOT NULL,
    -- Which document it is: collection and _id. Two documents that claim one legacy id are told apart by it.
    document text NOT NULL,
    -- The slug of the site, or the id of the event.
    site text,
    capture uuid REFERENCES capture ON DELETE CASCADE,
    event uuid,
    -- Addresses of a site that were brought along: its first ones.
    addresses integer NOT NULL DEFAULT 0,
    -- SHA-256 of what was read, to be compared with what is here.
    digest bytea NOT NULL CHECK (length(digest) = 32),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, kind, legacy_id),
    CHECK (num_nonnulls(site, capture, event) = 1),
    -- A site that is removed may be imported anew.
    FOREIGN KEY (organisation, site) REFERENCES site (organisation, slug) ON DELETE CASCADE
);
CREATE INDEX legacy_item_of_capture ON legacy_item (capture) WHERE capture IS NOT NULL;
CREATE INDEX legacy_item_of_site ON legacy_item (organisation, site) WHERE site IS NOT NULL;

-- An import that is under way; gone when it is through.
CREATE TABLE legacy_run (
    organisation uuid NOT NULL REFERENCES organisation,
    -- SHA-256 of the database's name and of the map: with another map it is another import.
    source bytea NOT NULL,
    -- Grows with every batch; whoever finds another number than its own is not alone.
    step integer NOT NULL,
    -- What is being read: `captures`, `events` or `done`.
    phase text NOT NULL,
    -- The last _id that was dealt with, as extended JSON; NULL at the beginning of a phase.
    position text,
    -- Read, imported, already there and bad, by kind.
    tallies jsonb NOT NULL,
    -- How long the report of bad documents was.
    report_bytes bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, source)
);

ALTER TABLE external_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE external_file FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON external_file TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE legacy_item ENABLE ROW LEVEL SECURITY;
ALTER TABLE legacy_item FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON legacy_item TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE legacy_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE legacy_run FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON legacy_run TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, DELETE ON external_file TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON legacy_item TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON legacy_run TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0009_legacy');
