-- A constant default: no row of the devices is written.
ALTER TABLE "devices" ADD COLUMN     "health" SMALLINT NOT NULL DEFAULT 2;

CREATE TABLE "sensors" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "component" TEXT NOT NULL,
    "value" DOUBLE PRECISION,
    "used_bytes" DOUBLE PRECISION,
    "total_bytes" DOUBLE PRECISION,
    "state" TEXT,
    "status" TEXT,
    "limits" JSONB NOT NULL DEFAULT '{}',
    "if_index" BIGINT,
    "health" SMALLINT NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "health_since" TIMESTAMPTZ(3) NOT NULL,
    "above_since" TIMESTAMPTZ(3),
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "gone_at" TIMESTAMPTZ(3),

    CONSTRAINT "sensors_pkey" PRIMARY KEY ("site_id","device_id","key")
);

CREATE UNIQUE INDEX "sensors_id_key" ON "sensors"("id");

-- Partial: lists show what is there. What is written with each reading stands in none of them.
CREATE INDEX "sensors_by_health" ON "sensors" ("health", "device_id", "id") INCLUDE ("site_id") WHERE "gone_at" IS NULL;
CREATE INDEX "sensors_by_kind" ON "sensors" ("kind", "health", "device_id", "id") INCLUDE ("site_id") WHERE "gone_at" IS NULL;

CREATE INDEX "devices_by_health" ON "devices" ("health", "sort_name", "id") INCLUDE ("site_id");

ALTER TABLE "sensors" ADD CONSTRAINT "sensors_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "devices" ADD CONSTRAINT "devices_health" CHECK ("health" BETWEEN 0 AND 3);
ALTER TABLE "sensors" ADD CONSTRAINT "sensors_health" CHECK ("health" BETWEEN 0 AND 3);
