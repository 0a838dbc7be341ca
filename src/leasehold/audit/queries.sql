-- name: record
INSERT INTO audit_event (id, organisation, actor, actor_name, action, subject, detail, request_id)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(actor)s::uuid, %(actor_name)s::text, %(action)s::text,
        %(subject)s::text, %(detail)s::jsonb, %(request_id)s::text);

-- name: page
-- Newest first; ids sort by time.
SELECT id, at, actor, actor_name, action, subject, detail, request_id
  FROM audit_event
 WHERE organisation = %(organisation)s::uuid
   AND (%(subject)s::text IS NULL OR subject = %(subject)s::text)
   AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
 ORDER BY id DESC
 LIMIT %(limit)s::int;
