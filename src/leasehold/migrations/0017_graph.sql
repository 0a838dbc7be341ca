-- The identity graph: what sources say, which of it belongs together and why, and what was decided by people.

-- Sellers were noted by their key; an entity of records has none.
ALTER TABLE entity ALTER COLUMN key DROP NOT NULL;
ALTER TABLE entity
    -- The record it was made for: an entity that is split off again gets its old name back.
    ADD COLUMN founder bigint,
    ADD COLUMN size integer NOT NULL DEFAULT 0,
    -- Where it went when it became one with another; such a row is only a pointer.
    ADD COLUMN merged_into uuid;
CREATE INDEX entity_by_founder ON entity (organisation, founder) WHERE merged_into IS NOT NULL;
CREATE INDEX entity_pointers ON entity (organisation, merged_into) WHERE merged_into IS NOT NULL;

-- One writer per organisation. Its fence is looked at in every transaction that writes, and people who merge or split
-- take the same row, so that there is one order of changes.
CREATE TABLE graph_writer (
    organisation uuid PRIMARY KEY,
    holder uuid,
    fence bigint NOT NULL DEFAULT 0,
    until timestamptz NOT NULL DEFAULT '-infinity',
    -- Grows when something was taken away that the writer may still remember.
    generation bigint NOT NULL DEFAULT 0,
    -- Grows whenever somebody else than the writer changed the graph.
    changes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE link_epoch (
    organisation uuid NOT NULL,
    kind text NOT NULL,
    number integer NOT NULL,
    version text NOT NULL,
    origin text NOT NULL CHECK (origin IN ('configured', 'learned')),
    state text NOT NULL CHECK (state IN ('proposed', 'moving', 'current', 'past', 'dropped')),
    parameters jsonb NOT NULL,
    records bigint NOT NULL DEFAULT 0,
    -- What would change, or did.
    difference jsonb,
    -- While its edges are made: up to which record they are.
    reached bigint,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    current_at timestamptz,
    PRIMARY KEY (organisation, kind, number)
);
CREATE UNIQUE INDEX link_epoch_current ON link_epoch (organisation, kind) WHERE state = 'current';
CREATE UNIQUE INDEX link_epoch_moving ON link_epoch (organisation, kind) WHERE state = 'moving';

-- What was handed over and is not written yet. A row is a page: taken whole, written whole.
CREATE TABLE record_batch (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    source text,
    items integer NOT NULL,
    left_over integer NOT NULL,
    outcomes jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at timestamptz
);
CREATE INDEX record_batch_done ON record_batch (done_at) WHERE done_at IS NOT NULL;
CREATE TABLE record_queue (
    organisation uuid NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    batch uuid NOT NULL,
    priority integer NOT NULL,
    run uuid,
    items integer NOT NULL,
    bytes integer NOT NULL,
    content bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, seq)
);
CREATE INDEX record_queue_by_turn ON record_queue (organisation, priority DESC, seq);
CREATE TABLE record_dead_letter (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    source text,
    source_id text,
    batch uuid NOT NULL,
    reason text NOT NULL,
    content text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX record_dead_letter_by_time ON record_dead_letter (organisation, id);

-- A record is known by a number made of its kind, source and id there: the same whenever it comes.
CREATE TABLE source_record (
    organisation uuid NOT NULL,
    node bigint NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    source text NOT NULL,
    source_id text NOT NULL,
    name text NOT NULL,
    content bytea NOT NULL,
    digest bytea NOT NULL,
    entity uuid NOT NULL,
    step text NOT NULL,
    -- What it was linked by when it was, and with which record.
    evidence text,
    linked_with bigint,
    state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'deleted', 'merged')),
    times_seen bigint NOT NULL DEFAULT 1,
    first_seen_run uuid,
    last_seen_run uuid,
    -- When its pictures were looked at, for sources that opted in.
    looked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, node)
) WITH (fillfactor = 80);
CREATE INDEX source_record_by_entity ON source_record (organisation, entity);
CREATE INDEX source_record_by_source ON source_record (organisation, source, node);

-- What records must share to be compared. The key is hashed; the epoch says which keys there are.
CREATE TABLE link_key (
    organisation uuid NOT NULL,
    key bigint NOT NULL,
    node bigint NOT NULL,
    epoch integer NOT NULL,
    PRIMARY KEY (organisation, key, node, epoch)
);

CREATE TABLE edge (
    organisation uuid NOT NULL,
    a bigint NOT NULL,
    b bigint NOT NULL,
    epoch integer NOT NULL,
    bits real NOT NULL,
    step text NOT NULL,
    -- Set while the two are in different entities and a person could say whether they should be.
    teaches real,
    PRIMARY KEY (organisation, a, b, epoch),
    CHECK (a < b)
);
CREATE INDEX edge_back ON edge (organisation, b, epoch);
CREATE INDEX edge_open ON edge (organisation, teaches DESC) WHERE teaches IS NOT NULL;

-- Evidence that does not follow from what two records say, such as that of their pictures. It adds to their edge.
CREATE TABLE edge_part (
    organisation uuid NOT NULL,
    a bigint NOT NULL,
    b bigint NOT NULL,
    field text NOT NULL,
    bits real NOT NULL,
    part text NOT NULL,
    PRIMARY KEY (organisation, a, b, field),
    CHECK (a < b)
);
CREATE INDEX edge_part_back ON edge_part (organisation, b);

-- What people said of two records. It lasts, whatever the evidence.
CREATE TABLE link_decision (
    organisation uuid NOT NULL,
    a bigint NOT NULL,
    b bigint NOT NULL,
    decision text NOT NULL CHECK (decision IN ('same', 'different', 'unsure')),
    actor text NOT NULL,
    reason text,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, a, b),
    CHECK (a < b)
);
CREATE INDEX link_decision_back ON link_decision (organisation, b);

CREATE TABLE entity_change (
    organisation uuid NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    entity uuid NOT NULL,
    change text NOT NULL CHECK (change IN ('created', 'updated', 'merged', 'split', 'moved', 'erased', 'removed')),
    actor text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (organisation, seq)
);
CREATE INDEX entity_change_of_one ON entity_change (organisation, entity, seq);

CREATE TABLE graph_count (
    organisation uuid NOT NULL,
    source text NOT NULL,
    name text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (organisation, source, name)
) WITH (fillfactor = 50);

-- Who asked to be forgotten: only a keyed hash of where they were found.
CREATE TABLE suppression (
    organisation uuid NOT NULL,
    mark bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, mark)
);

-- What the marks above are keyed with, sealed.
CREATE TABLE suppression_key (
    organisation uuid PRIMARY KEY,
    key_id text NOT NULL,
    sealed bytea NOT NULL
);

ALTER TABLE graph_writer ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_writer FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON graph_writer TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE link_epoch ENABLE ROW LEVEL SECURITY;
ALTER TABLE link_epoch FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON link_epoch TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON link_epoch TO leasehold_system USING (true);
ALTER TABLE record_batch ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_batch FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON record_batch TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON record_batch TO leasehold_system USING (true);
ALTER TABLE record_queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_queue FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON record_queue TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON record_queue TO leasehold_system USING (true);
ALTER TABLE record_dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_dead_letter FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON record_dead_letter TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE source_record ENABLE ROW LEVEL SECURITY;
ALTER TABLE source_record FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON source_record TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE link_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE link_key FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON link_key TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE edge ENABLE ROW LEVEL SECURITY;
ALTER TABLE edge FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON edge TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE edge_part ENABLE ROW LEVEL SECURITY;
ALTER TABLE edge_part FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON edge_part TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE link_decision ENABLE ROW LEVEL SECURITY;
ALTER TABLE link_decision FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON link_decision TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE entity_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_change FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON entity_change TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE graph_count ENABLE ROW LEVEL SECURITY;
ALTER TABLE graph_count FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON graph_count TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE suppression ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppression FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON suppression TO leasehold_app USING (organisation = current_organisation());

ALTER TABLE suppression_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppression_key FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON suppression_key TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE ON suppression_key TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON graph_writer TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON link_epoch TO leasehold_app;
GRANT SELECT (organisation, kind, state) ON link_epoch TO leasehold_system;
GRANT SELECT, INSERT, UPDATE ON record_batch TO leasehold_app;
GRANT SELECT (id, done_at), DELETE ON record_batch TO leasehold_system;
GRANT SELECT, INSERT, DELETE ON record_queue TO leasehold_app;
GRANT SELECT (organisation, seq, created_at) ON record_queue TO leasehold_system;
GRANT SELECT, INSERT, DELETE ON record_dead_letter TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON source_record TO leasehold_app;
GRANT SELECT, INSERT, DELETE ON link_key TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON edge TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON edge_part TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON link_decision TO leasehold_app;
GRANT SELECT, INSERT ON entity_change TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON graph_count TO leasehold_app;
GRANT SELECT, INSERT ON suppression TO leasehold_app;
GRANT DELETE ON entity TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0017_graph');
