-- What steers jobs and platforms: the jobs of a run are found without going through all others.

CREATE INDEX job_of_run ON job (organisation, run_id, created_at, id) WHERE run_id IS NOT NULL;

INSERT INTO schema_mark (name) VALUES ('0024_steering');
