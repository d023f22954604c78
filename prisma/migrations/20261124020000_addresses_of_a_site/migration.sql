-- How many devices have an address in a large network is counted site by site, off this index alone: the devices of one site
-- are told apart in a table that stays in the processor's cache, those of all sites in one that does not.
DROP INDEX "device_addresses_site_id_address_idx";
CREATE INDEX "device_addresses_site_id_address_idx" ON "device_addresses" ("site_id", "address") INCLUDE ("device_id");
