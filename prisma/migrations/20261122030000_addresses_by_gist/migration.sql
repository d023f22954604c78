-- GiST in place of SP-GiST. PostgreSQL 15.19 was seen to lose IPv6 addresses in an SP-GiST index on inet that grew from
-- nothing with both families: the rows were there, `address = …` by the index alone did not find them (test/chaos, 54 of
-- 11,000 observations, three runs of three). GiST answers the same questions.
DROP INDEX "device_addresses_in_network";
CREATE INDEX "device_addresses_in_network" ON "device_addresses" USING gist ("address" inet_ops) INCLUDE ("site_id", "device_id");
