-- What a run was planned and started with, written down, so that it can be told when files and settings have changed since.

ALTER TABLE run
    -- Settings by section and name. Not set for runs of before: of those only what stands in their row is known.
    ADD COLUMN config jsonb,
    -- When that was: first with the plan, and again at the start.
    ADD COLUMN frozen_at timestamptz;

INSERT INTO schema_mark (name) VALUES ('0023_run_plans');
