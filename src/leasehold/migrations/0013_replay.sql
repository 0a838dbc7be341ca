-- Replays: dead letters that an operator has tried again, together and at a rate, and what can be stopped of that.

CREATE TABLE replay (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    by_name text NOT NULL,
    -- 0 begins everything at once.
    rate_per_second double precision NOT NULL CHECK (rate_per_second >= 0),
    -- How many letters were meant, and how many of them were beyond what was allowed at once.
    matched integer NOT NULL,
    left_over integer NOT NULL,
    replayed integer NOT NULL DEFAULT 0,
    -- What could not be replayed, with the reason: [{id, detail}].
    skipped jsonb NOT NULL DEFAULT '[]',
    -- Null while it goes on, and for ever when its caller went away.
    ended_at timestamptz,
    stopped_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX replay_by_time ON replay (organisation, at, id);

-- The last replay that took it up.
ALTER TABLE task ADD COLUMN replay uuid;
CREATE INDEX task_of_replay ON task (organisation, replay) WHERE replay IS NOT NULL;
ALTER TABLE dead_letter ADD COLUMN replay uuid;
CREATE INDEX dead_letter_of_replay ON dead_letter (organisation, replay) WHERE replay IS NOT NULL;

ALTER TABLE replay ENABLE ROW LEVEL SECURITY;
ALTER TABLE replay FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON replay TO leasehold_app USING (organisation = current_organisation());
GRANT SELECT, INSERT, UPDATE ON replay TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0013_replay');
