-- CreateTable
CREATE TABLE "baselines" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "hour" INTEGER NOT NULL,
    "weeks" INTEGER NOT NULL,
    "rtt_ms" DOUBLE PRECISION,
    "rtt_spread_ms" DOUBLE PRECISION NOT NULL,
    "loss" DOUBLE PRECISION NOT NULL,
    "loss_spread" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "baselines_pkey" PRIMARY KEY ("site_id","device_id","hour")
);

-- AddForeignKey
ALTER TABLE "baselines" ADD CONSTRAINT "baselines_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
