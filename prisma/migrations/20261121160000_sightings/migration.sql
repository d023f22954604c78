-- What every rescan writes, apart from what it seldom does. A row of devices is wide and in a dozen indexes; when a scan
-- finds a device unchanged, only its sighting is written.
CREATE TABLE "sightings" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_scan_id" UUID,
    "rtt_ms" DOUBLE PRECISION,
    "walk" UUID,
    "merged_at" TIMESTAMPTZ(3),
    "received" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "sightings_pkey" PRIMARY KEY ("site_id", "device_id"),
    CONSTRAINT "sightings_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
) WITH (fillfactor = 70);
INSERT INTO "sightings" ("site_id", "device_id", "last_seen", "last_scan_id", "rtt_ms", "walk")
SELECT "site_id", "id", "last_seen", "last_scan_id", "rtt_ms", "walk" FROM "devices";
CREATE INDEX "sightings_site_id_last_scan_id_idx" ON "sightings" ("site_id", "last_scan_id");

ALTER TABLE "devices" DROP COLUMN "last_seen", DROP COLUMN "last_scan_id", DROP COLUMN "rtt_ms", DROP COLUMN "walk";
