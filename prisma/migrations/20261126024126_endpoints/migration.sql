-- CreateTable
CREATE TABLE "endpoints" (
    "site_id" UUID NOT NULL,
    "mac" TEXT NOT NULL,
    "device_id" UUID NOT NULL,
    "if_index" BIGINT NOT NULL,
    "vlan" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),

    CONSTRAINT "endpoints_pkey" PRIMARY KEY ("site_id","mac","device_id","if_index","vlan","address","since")
);

-- CreateIndex
CREATE INDEX "endpoints_site_id_device_id_if_index_idx" ON "endpoints"("site_id", "device_id", "if_index");

-- CreateIndex
CREATE INDEX "endpoints_until_idx" ON "endpoints"("until");

-- AddForeignKey
ALTER TABLE "endpoints" ADD CONSTRAINT "endpoints_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
