-- Tasks that go to workers through RabbitMQ: whether the broker has them, and until when nobody wonders.

-- When the broker confirmed the present grant; nobody has it before that.
ALTER TABLE task ADD COLUMN published_at timestamptz;
-- Until when it may lie in the queue, or with a worker that has not said a word yet, before that worker counts as lost.
ALTER TABLE task ADD COLUMN queue_until timestamptz;
CREATE INDEX task_queued ON task (organisation, platform, published_at) WHERE status = 'dispatched';

INSERT INTO schema_mark (name) VALUES ('0012_amqp');
