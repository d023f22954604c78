-- Trigger: of which class a device is decides whether its forwarding and ARP tables are read.
DROP TRIGGER "devices_watch_update" ON "devices";
CREATE TRIGGER "devices_watch_update" AFTER UPDATE ON "devices" FOR EACH ROW
  WHEN (OLD.monitor <> NEW.monitor OR (NEW.monitor
    AND (OLD.address, OLD.credential_id, OLD.class) IS DISTINCT FROM (NEW.address, NEW.credential_id, NEW.class)))
  EXECUTE FUNCTION watch_changed();
-- Partial, covering: what a collector is to watch, read whole whenever it changes.
DROP INDEX "devices_watched";
CREATE INDEX "devices_watched" ON "devices" ("site_id", "id") INCLUDE ("address", "credential_id", "class") WHERE "monitor";
