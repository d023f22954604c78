-- What a scan found is counted from the devices while it runs and written down with its end: a device that proved to be
-- another one's second address is then not counted twice.
ALTER TABLE "scans" ADD COLUMN "devices_found" INTEGER;
CREATE INDEX "devices_site_id_last_scan_id_idx" ON "devices" ("site_id", "last_scan_id");
