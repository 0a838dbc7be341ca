-- A run on its way, changed by hand: categories nothing more is begun of, and how many items are in hand at once.

ALTER TABLE run
    ADD COLUMN dropped_categories text[] NOT NULL DEFAULT '{}',
    ADD COLUMN max_in_flight integer NOT NULL DEFAULT 200 CHECK (max_in_flight BETWEEN 1 AND 1000);

INSERT INTO schema_mark (name) VALUES ('0021_run_steering');
