-- Writers: results go where their platform's file says, once or twice, and are compared.

-- Sent to the stream and not confirmed yet. A chunk stays until every place that is to have it has it.
ALTER TABLE receipt ADD COLUMN streamed_at timestamptz;
ALTER TABLE receipt ADD COLUMN shadow_due boolean NOT NULL DEFAULT false;
ALTER TABLE receipt ADD COLUMN platform text;
UPDATE receipt r SET platform = t.platform FROM task t WHERE t.id = r.task;
ALTER TABLE receipt ALTER COLUMN platform SET NOT NULL;
ALTER TABLE receipt DROP CONSTRAINT receipt_check;
ALTER TABLE receipt ADD CONSTRAINT receipt_chunk_stays CHECK ((chunk IS NULL) = (written_at IS NOT NULL AND NOT shadow_due));
-- A platform whose writer is down must not keep those of the others waiting.
DROP INDEX receipt_unwritten;
CREATE INDEX receipt_unwritten ON receipt (organisation, platform, number) WHERE written_at IS NULL;
CREATE INDEX receipt_unwritten_of_task ON receipt (task) WHERE written_at IS NULL;
CREATE INDEX receipt_unshadowed ON receipt (organisation, platform, number) WHERE shadow_due;
CREATE INDEX receipt_of_platform ON receipt (organisation, platform, number);

-- A shadow is kept apart from what people read.
ALTER TABLE result ADD COLUMN space text NOT NULL DEFAULT 'main' CHECK (space IN ('main', 'shadow'));
ALTER TABLE result DROP CONSTRAINT result_pkey;
ALTER TABLE result ADD PRIMARY KEY (task, space, key, place);

-- What documents of a task were seen, where the platform says what makes two of them the same.
CREATE TABLE document_seen (
    task uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    organisation uuid NOT NULL,
    identity bytea NOT NULL CHECK (length(identity) = 16),
    PRIMARY KEY (task, identity)
);

-- How far the move of a platform's results has come, once somebody has promoted it or taken that back.
CREATE TABLE platform_phase (
    organisation uuid NOT NULL,
    platform text NOT NULL,
    phase text NOT NULL CHECK (phase IN ('observe', 'dual', 'primary', 'stream')),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    by_name text NOT NULL,
    reason text,
    PRIMARY KEY (organisation, platform)
);

ALTER TABLE document_seen ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_seen FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON document_seen TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE platform_phase ENABLE ROW LEVEL SECURITY;
ALTER TABLE platform_phase FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON platform_phase TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT ON document_seen TO leasehold_app;
GRANT SELECT, INSERT, UPDATE ON platform_phase TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0011_writers');
