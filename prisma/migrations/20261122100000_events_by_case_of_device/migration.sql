-- Which cases a device is in, without reading all of its events: by live ones, leaping from case to case, and by those
-- that closed recently.
DROP INDEX "events_live_device";
CREATE INDEX "events_live_device" ON "events" ("device_id", "case_id", "severity") WHERE "status" < 2;
CREATE INDEX "events_closed_device" ON "events" ("device_id", "timestamp") WHERE "status" = 2 AND "case_id" IS NOT NULL;
