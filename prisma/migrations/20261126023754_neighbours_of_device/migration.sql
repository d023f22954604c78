-- CreateIndex
CREATE INDEX "neighbours_site_id_remote_device_id_idx" ON "neighbours"("site_id", "remote_device_id");
