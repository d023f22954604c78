-- Partial: a notice that was closed when it was made counts up when it happens again, and is few among many events.
CREATE INDEX "events_noted" ON "events" ("site_id", "dedup_key", "timestamp") WHERE "close_reason" = 'noted';
-- What stood open as information that nothing ends.
UPDATE "events" SET "status" = 2, "closed_at" = "timestamp", "close_reason" = 'noted'
WHERE "status" < 2 AND "case_id" IS NULL AND "severity" = 5 AND "kind" IN ('device.new', 'device.renumbered',
  'device.moved', 'device.upgraded', 'device.changed', 'device.merged', 'device.split', 'interface.added',
  'interface.removed', 'interface.changed', 'neighbour.changed', 'address.moved');
