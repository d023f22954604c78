-- How many statements have changed what a search or an address filter of the device list looks at, per site: a number that
-- was counted at this revision still holds while it stands. Appended and folded as the tallies are (kernel/tally.ts), so
-- that writers wait for nobody; in the transaction of the change, so that it is never early and never late.
CREATE TABLE "device_revision" (
    "id" BIGSERIAL NOT NULL,
    "site_id" UUID NOT NULL,
    "n" BIGINT NOT NULL,
    "settled" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "device_revision_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "device_revision_settled" ON "device_revision" ("site_id") WHERE "settled";
CREATE INDEX "device_revision_new" ON "device_revision" ("id") WHERE NOT "settled";

CREATE FUNCTION device_revised() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "device_revision" ("site_id", "n") SELECT DISTINCT "site_id", 1 FROM added;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO "device_revision" ("site_id", "n") SELECT DISTINCT "site_id", 1 FROM removed;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO "device_revision" ("site_id", "n") VALUES (NEW."site_id", 1);
    ELSE
        INSERT INTO "device_revision" ("site_id", "n") SELECT DISTINCT "site_id", 1 FROM "device_revision";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "devices_revised_insert" AFTER INSERT ON "devices" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION device_revised();
CREATE TRIGGER "devices_revised_delete" AFTER DELETE ON "devices" REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION device_revised();
-- By row, with the question in front: a rescan that finds the same world, which updates every device, calls nothing.
CREATE TRIGGER "devices_revised_update" AFTER UPDATE ON "devices" FOR EACH ROW WHEN (OLD."search_text" IS DISTINCT FROM NEW."search_text") EXECUTE FUNCTION device_revised();
CREATE TRIGGER "devices_revised_truncate" AFTER TRUNCATE ON "devices" FOR EACH STATEMENT EXECUTE FUNCTION device_revised();
CREATE TRIGGER "device_addresses_revised_insert" AFTER INSERT ON "device_addresses" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION device_revised();
CREATE TRIGGER "device_addresses_revised_delete" AFTER DELETE ON "device_addresses" REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION device_revised();
CREATE TRIGGER "device_addresses_revised_update" AFTER UPDATE ON "device_addresses" FOR EACH ROW WHEN (OLD."address" IS DISTINCT FROM NEW."address" OR OLD."device_id" IS DISTINCT FROM NEW."device_id") EXECUTE FUNCTION device_revised();
CREATE TRIGGER "device_addresses_revised_truncate" AFTER TRUNCATE ON "device_addresses" FOR EACH STATEMENT EXECUTE FUNCTION device_revised();

INSERT INTO "device_revision" ("site_id", "n", "settled") SELECT DISTINCT "site_id", 1, true FROM "devices";

-- The number of devices of one site, off the index alone.
CREATE INDEX "device_tally_read" ON "device_tally" ("site_id") INCLUDE ("class", "monitor", "status", "collector_id", "n");
