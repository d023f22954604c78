-- Planned work, and what waits for its end.
CREATE TABLE "maintenance_windows" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "note" TEXT NOT NULL DEFAULT '',
    "scope" JSONB NOT NULL DEFAULT '{}',
    "timezone" TEXT NOT NULL,
    "times" JSONB NOT NULL,
    "over_at" TIMESTAMPTZ(3),
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_by" TEXT NOT NULL DEFAULT '',
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "maintenance_windows_pkey" PRIMARY KEY ("site_id", "id")
);
CREATE UNIQUE INDEX "maintenance_windows_id_key" ON "maintenance_windows" ("id");
ALTER TABLE "maintenance_windows" ADD CONSTRAINT "maintenance_windows_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "events" ADD COLUMN "maintenance_until" TIMESTAMPTZ(3), ADD COLUMN "acknowledged_until" TEXT;
CREATE INDEX "events_in_maintenance" ON "events" ("maintenance_until", "site_id") WHERE "maintenance_until" IS NOT NULL AND "status" < 2 AND "case_id" IS NULL;
-- Looked through whenever something got worse: the few that somebody acknowledged until then.
CREATE INDEX "events_until_worse" ON "events" ("site_id", "device_id") WHERE "status" = 1 AND "acknowledged_until" = 'worse';
