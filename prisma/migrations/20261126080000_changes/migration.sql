-- Partial: what `GET /api/changes` reads. Most events are of trouble, not of changes (CHANGE_KINDS in the shared package).
CREATE INDEX "events_changes" ON "events" ("timestamp", "id") INCLUDE ("site_id")
  WHERE "kind" IN ('device.new', 'device.gone', 'device.renumbered', 'device.moved', 'device.swapped', 'device.upgraded', 'device.changed', 'device.merged', 'device.split', 'device.rebooted', 'interface.added', 'interface.removed', 'interface.changed', 'interface.speed', 'interface.duplex', 'neighbour.changed', 'address.moved', 'address.conflict');
