-- Pages of one class, and of what one collector saw, in the order of names: read off the index alone. Without them the
-- list walks over names until it has a page, which is long where names begin with what a device is or where it stands.
DROP INDEX "devices_by_class";
CREATE INDEX "devices_by_class" ON "devices" ("class", "name", "id") INCLUDE ("site_id", "monitor", "collector_id");
CREATE INDEX "devices_by_collector" ON "devices" ("collector_id", "name", "id") INCLUDE ("site_id", "class", "monitor");

-- A CIDR is a range of the btree on addresses (`<<=` is planned as `>= first AND <= last`), read off the index alone:
-- with 1,325,000 addresses the planner never took the GiST index, and every new address paid for it.
DROP INDEX "device_addresses_address_gist";
