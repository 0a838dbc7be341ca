-- name: sites
SELECT row_to_json(line)::text
  FROM (SELECT s.slug, s.name, s.epoch, s.paused_at IS NOT NULL AS paused, s.pause_reason,
               json_build_object(
                   'max_concurrent_accounts', s.max_concurrent_accounts, 'cooldown_seconds', s.cooldown_seconds,
                   'reclaim_delay_seconds', s.reclaim_delay_seconds,
                   'quarantine_after_unclean', s.quarantine_after_unclean,
                   'seed_concurrency', s.seed_concurrency, 'min_interval_ms', s.min_interval_ms,
                   'auth_markers', s.auth_markers) AS policy,
               (SELECT json_agg(json_build_object('host', m.host, 'scheme', m.scheme, 'port', m.port, 'prefix', m.prefix,
                                                  'since', m.since, 'trust', m.trust, 'current', m.current)
                                ORDER BY m.since, m.id)
                  FROM mount m
                 WHERE m.organisation = %(organisation)s::uuid AND m.site = s.slug) AS mounts,
               s.created_at, s.updated_at
          FROM site s
         WHERE s.organisation = %(organisation)s::uuid
         ORDER BY s.slug) line;

-- name: seeds
-- What `import seeds` reads. Where it is seen from the site comes along; the address is made of that.
SELECT row_to_json(line)::text
  FROM (SELECT s.site, s.sub, s.rest, s.original_url AS url, s.kind, s.priority, s.interval_seconds,
               s.min_interval_seconds, s.max_interval_seconds, s.labels, s.enabled, s.cursor, s.next_due_at
          FROM seed s
         WHERE s.organisation = %(organisation)s::uuid
         ORDER BY s.site, s.id) line;

-- name: captures
SELECT row_to_json(line)::text
  FROM (SELECT 'cap_' || replace(c.id::text, '-', '') AS id, c.site, c.url, c.captured_at, c.received_at, c.state,
               c.failures, c.reason, c.late, c.job_id, c.labels, c.size,
               (SELECT json_agg(json_build_object('name', f.name, 'sha256', encode(f.sha256, 'hex'), 'size', f.size,
                                                  'content_type', f.content_type) ORDER BY f.place)
                  FROM capture_file f
                 WHERE f.organisation = %(organisation)s::uuid AND f.capture = c.id) AS files
          FROM capture_now c
         WHERE c.organisation = %(organisation)s::uuid
         ORDER BY c.received_at, c.id) line;

-- name: jobs
SELECT row_to_json(line)::text
  FROM (SELECT j.id AS job_id, j.task_type, j.platforms, j.payload, j.time_range, j.priority, j.metadata, j.run_id,
               j.status, j.created_at, j.deadline_at, j.ended_at,
               (SELECT json_agg(json_build_object('platform', t.platform, 'status', t.status, 'attempt', t.attempt,
                                                  'losses', t.losses, 'result_count', t.result_count,
                                                  'last_error', t.last_error, 'ended_at', t.ended_at)
                                ORDER BY t.platform)
                  FROM task t
                 WHERE t.organisation = %(organisation)s::uuid AND t.job = j.id) AS tasks
          FROM job j
         WHERE j.organisation = %(organisation)s::uuid
         ORDER BY j.created_at, j.id) line;

-- name: runs
SELECT row_to_json(line)::text
  FROM (SELECT 'run_' || replace(r.id::text, '-', '') AS id, r.name, r.collector, r.platform, r.categories, r.status,
               r.pause_reason, r.estimated_cost_micros, r.budget_cap_micros, r.spent_micros, r.reserved_micros,
               r.total_items, r.processed_items, r.failed_items, r.skipped_items, r.created_by, r.created_at,
               r.started_at, r.completed_at
          FROM run r
         WHERE r.organisation = %(organisation)s::uuid
         ORDER BY r.created_at, r.id) line;

-- name: items
SELECT row_to_json(line)::text
  FROM (SELECT 'item_' || replace(i.id::text, '-', '') AS id, 'run_' || replace(i.run::text, '-', '') AS run_id,
               i.category, i.item_type, i.external_id, i.status, i.data, i.error_code, i.error_message, i.cost_micros,
               i.updated_at
          FROM run_item i
         WHERE i.organisation = %(organisation)s::uuid
         ORDER BY i.run, i.id) line;

-- name: entities
-- One that became one with another is only a pointer, and is left out.
SELECT row_to_json(line)::text
  FROM (SELECT 'ent_' || replace(e.id::text, '-', '') AS id, e.kind, e.name, e.aliases, e.external_ids, e.urls,
               e.attributes, e.size, e.times_seen, e.created_at, e.updated_at
          FROM entity e
         WHERE e.organisation = %(organisation)s::uuid AND e.merged_into IS NULL
         ORDER BY e.kind, e.id) line;

-- name: records
-- What each source said, as it said it, and which entity it is of.
SELECT row_to_json(line)::text
  FROM (SELECT 'rec_' || replace(r.id::text, '-', '') AS id, 'ent_' || replace(r.entity::text, '-', '') AS entity_id,
               r.kind, r.source, r.source_id, r.name, r.state, r.step, convert_from(r.content, 'UTF8')::json AS content,
               r.times_seen, r.created_at, r.updated_at
          FROM source_record r
         WHERE r.organisation = %(organisation)s::uuid
         ORDER BY r.node) line;

-- name: audit
SELECT row_to_json(line)::text
  FROM (SELECT a.at, a.actor_name, a.action, a.subject, a.detail, a.request_id
          FROM audit_event a
         WHERE a.organisation = %(organisation)s::uuid
         ORDER BY a.id) line;
