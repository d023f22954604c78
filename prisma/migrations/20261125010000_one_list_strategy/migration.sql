-- Lists are counted and walked at the size that installations have: nothing is remembered between questions any more.
DROP TRIGGER "devices_worded_insert" ON "devices";
DROP TRIGGER "devices_worded_delete" ON "devices";
DROP TRIGGER "devices_worded_update" ON "devices";
DROP TRIGGER "devices_worded_truncate" ON "devices";
DROP FUNCTION device_worded();
DROP TABLE "wordings", "wording_counts", "wording_changes";
DROP INDEX "devices_search_identifiers_trgm";
DROP FUNCTION search_wording(TEXT);
DROP FUNCTION search_identifiers(TEXT);

DROP TRIGGER "devices_revised_insert" ON "devices";
DROP TRIGGER "devices_revised_delete" ON "devices";
DROP TRIGGER "devices_revised_update" ON "devices";
DROP TRIGGER "devices_revised_truncate" ON "devices";
DROP TRIGGER "device_addresses_revised_insert" ON "device_addresses";
DROP TRIGGER "device_addresses_revised_delete" ON "device_addresses";
DROP TRIGGER "device_addresses_revised_update" ON "device_addresses";
DROP TRIGGER "device_addresses_revised_truncate" ON "device_addresses";
DROP FUNCTION device_revised();
DROP TABLE "device_revision";
