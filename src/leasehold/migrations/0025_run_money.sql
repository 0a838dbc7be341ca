-- What a run pays for: time that it is paused is no time of its items, and calls that cost more than was set aside are told.

-- Since when the run of a task is paused: its deadline stands still from then on, and moves when the run goes on.
ALTER TABLE task ADD COLUMN paused_at timestamptz;

-- By how much calls cost more than was set aside for them. Nobody can take that back; nothing more begins beyond the cap.
ALTER TABLE run
    ADD COLUMN overrun_micros bigint NOT NULL DEFAULT 0 CHECK (overrun_micros >= 0),
    DROP CONSTRAINT run_within_its_cap,
    ADD CONSTRAINT run_within_its_cap CHECK (spent_micros + reserved_micros <= budget_cap_micros + overrun_micros);

INSERT INTO schema_mark (name) VALUES ('0025_run_money');
