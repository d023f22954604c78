-- Deep pages begin at places in the order of names whose numbers are remembered at a revision: names count as well. A
-- name is in the searched text, but two fields could trade words and leave the text as it was.
DROP TRIGGER "devices_revised_update" ON "devices";
CREATE TRIGGER "devices_revised_update" AFTER UPDATE ON "devices" FOR EACH ROW WHEN (OLD."search_text" IS DISTINCT FROM NEW."search_text" OR OLD."name" IS DISTINCT FROM NEW."name") EXECUTE FUNCTION device_revised();

-- Every order is read off its index alone: deep pages, and pages of those who see some sites only, looked at each row of
-- the table on the way. Models had no index.
DROP INDEX "devices_by_vendor";
CREATE INDEX "devices_by_vendor" ON "devices" ("vendor", "name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_model" ON "devices" ("model", "name", "id") INCLUDE ("site_id");
DROP INDEX "devices_by_status";
CREATE INDEX "devices_by_status" ON "devices" ("status", "name", "id") INCLUDE ("site_id");
DROP INDEX "devices_by_address";
CREATE INDEX "devices_by_address" ON "devices" ("address", "id") INCLUDE ("site_id");
DROP INDEX "devices_by_first_seen";
CREATE INDEX "devices_by_first_seen" ON "devices" ("first_seen", "id") INCLUDE ("site_id");
