-- An address or the addresses of a CIDR, at whatever site, with whose they are: SP-GiST on inet, read off the index alone.
-- Of 1,325,000 addresses: 93 MB, built in a quarter of the time of GiST; the btree was 78 MB and knew no networks.
DROP INDEX "device_addresses_by_address";
CREATE INDEX "device_addresses_in_network" ON "device_addresses" USING spgist ("address") INCLUDE ("site_id", "device_id");
