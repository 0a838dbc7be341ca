-- What a run pays for: time that it is paused is no time of its items.

-- Since when the run of a task is paused: its deadline stands still from then on, and moves when the run goes on.
ALTER TABLE task ADD COLUMN paused_at timestamptz;

INSERT INTO schema_mark (name) VALUES ('0026_run_money');
