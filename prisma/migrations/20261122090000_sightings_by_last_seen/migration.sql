-- The order of sightings, off an index: of a million they took half a second to put in order. What a rescan writes changes
-- an index as it is (`last_scan_id`), so that this is one entry more, at the end of it.
CREATE INDEX "sightings_by_last_seen" ON "sightings" ("last_seen", "device_id") INCLUDE ("site_id");
