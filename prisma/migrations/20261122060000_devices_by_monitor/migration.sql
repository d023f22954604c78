-- Pages of the devices that are monitored, or not, in the order of names: a deep one walked over the others as well.
CREATE INDEX "devices_by_monitor" ON "devices" ("monitor", "name", "id") INCLUDE ("site_id");
