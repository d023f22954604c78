CREATE TABLE "samples" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "part" BIGINT NOT NULL,
    "over_ms" INTEGER NOT NULL,
    "data" JSONB NOT NULL,
    CONSTRAINT "samples_pkey" PRIMARY KEY ("site_id", "device_id", "at", "part"),
    CONSTRAINT "samples_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "samples_at_idx" ON "samples" ("at");

CREATE TABLE "sample_chunks" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "step" INTEGER NOT NULL,
    "begins" TIMESTAMPTZ(3) NOT NULL,
    "summarised" BOOLEAN NOT NULL DEFAULT false,
    "data" BYTEA NOT NULL,
    CONSTRAINT "sample_chunks_pkey" PRIMARY KEY ("site_id", "device_id", "step", "begins"),
    CONSTRAINT "sample_chunks_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "sample_chunks_step_begins_idx" ON "sample_chunks" ("step", "begins");
-- Partial: what waits to be summarised.
CREATE INDEX "sample_chunks_unsummarised" ON "sample_chunks" ("begins") WHERE "step" = 0 AND NOT "summarised";
-- Chunks are compressed already.
ALTER TABLE "sample_chunks" ALTER COLUMN "data" SET STORAGE EXTERNAL;
