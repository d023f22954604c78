-- Partial: what `GET /api/changes` reads, with the changes of addresses, parts and VLANs (CHANGE_KINDS in the shared package).
DROP INDEX "events_changes";
CREATE INDEX "events_changes" ON "events" ("timestamp", "id") INCLUDE ("site_id")
  WHERE "kind" IN ('device.new', 'device.gone', 'device.renumbered', 'device.moved', 'device.swapped', 'device.upgraded', 'device.changed', 'device.addresses', 'device.hardware', 'device.vlans', 'device.merged', 'device.split', 'device.rebooted', 'interface.added', 'interface.removed', 'interface.changed', 'interface.speed', 'interface.duplex', 'neighbour.changed', 'address.moved', 'address.conflict');
