-- Cases of thousands of events: what grouping and settling ask is answered without walking over all of them.
ALTER TABLE "cases" ADD COLUMN "begun_at" TIMESTAMPTZ(3);
UPDATE "cases" c SET "begun_at" = (SELECT min(e."first_seen") FROM "events" e WHERE e."case_id" = c."id") WHERE c."status" < 3;
CREATE INDEX "events_live_of_case" ON "events" ("case_id", "severity") WHERE "status" < 2 AND "case_id" IS NOT NULL;
-- What waits for a case: few, even where there are very many events.
CREATE INDEX "events_without_case" ON "events" ("device_id", "kind") WHERE "status" < 2 AND "case_id" IS NULL;
CREATE INDEX "events_shadows" ON "events" ("site_id", ("details" ->> 'rootDeviceId')) WHERE "status" < 2 AND "case_id" IS NULL AND "kind" = 'device.unreachable';
