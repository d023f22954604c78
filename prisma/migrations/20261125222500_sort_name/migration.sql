-- Devices are listed as people count: access-2 before access-10. `sort_name` follows the name by a trigger, and the indexes of the
-- list end in it instead of the name.
CREATE FUNCTION natural_order(TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(string_agg(
        CASE WHEN part[1] IS NULL THEN lower(part[2])
             ELSE lpad(ltrim(part[1], '0'), greatest(12, length(ltrim(part[1], '0'))), '0') END, '' ORDER BY n), '')
    FROM regexp_matches($1, '(\d+)|(\D+)', 'g') WITH ORDINALITY AS found(part, n)
$$;

ALTER TABLE "devices" ADD COLUMN "sort_name" TEXT NOT NULL DEFAULT '';
UPDATE "devices" SET "sort_name" = natural_order("name");

CREATE FUNCTION device_sort_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.sort_name := natural_order(NEW.name);
    RETURN NEW;
END $$;
CREATE TRIGGER devices_sort_name BEFORE INSERT OR UPDATE OF "name" ON "devices"
    FOR EACH ROW EXECUTE FUNCTION device_sort_name();

DROP INDEX "devices_site_id_name_id_idx";
DROP INDEX "devices_by_name";
DROP INDEX "devices_by_class";
DROP INDEX "devices_by_vendor";
DROP INDEX "devices_by_model";
DROP INDEX "devices_by_status";
DROP INDEX "devices_by_monitor";
DROP INDEX "devices_by_collector";
CREATE INDEX "devices_site_id_sort_name_id_idx" ON "devices" ("site_id", "sort_name", "id");
CREATE INDEX "devices_by_name" ON "devices" ("sort_name", "id") INCLUDE ("site_id", "class", "monitor", "collector_id");
CREATE INDEX "devices_by_class" ON "devices" ("class", "sort_name", "id") INCLUDE ("site_id", "monitor", "collector_id");
CREATE INDEX "devices_by_vendor" ON "devices" ("vendor", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_model" ON "devices" ("model", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_status" ON "devices" ("status", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_monitor" ON "devices" ("monitor", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_collector" ON "devices" ("collector_id", "sort_name", "id") INCLUDE ("site_id", "class", "monitor");
-- Devices are also named in filters.
CREATE INDEX "devices_name_idx" ON "devices" ("name");
