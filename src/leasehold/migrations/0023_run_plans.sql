-- Plans of runs: what they were started with, what they came to, and the cap that was chosen for them.

ALTER TABLE run
    -- Settings by section and name. Not set for runs of before: of those only what stands in their row is known.
    ADD COLUMN config jsonb,
    -- When that was: first with the plan, and again at the start.
    ADD COLUMN frozen_at timestamptz,
    -- What each category came to when the run was over: how many were found and paid for, and what those cost. Not set
    -- for runs of before: their items are counted instead.
    ADD COLUMN outcome jsonb,
    -- The cap was chosen with the plan: it may be below the estimate, and the run pauses there.
    ADD COLUMN is_cap_planned boolean NOT NULL DEFAULT false,
    -- What other runs collected within so many days is left out; not set when nothing is.
    ADD COLUMN skip_collected_days smallint CHECK (skip_collected_days BETWEEN 1 AND 365);

INSERT INTO schema_mark (name) VALUES ('0023_run_plans');
