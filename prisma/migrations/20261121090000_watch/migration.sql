-- What the watch found last, apart from what scans say: a scan that sees a device in between must not swallow the turn.
-- Both are null until the watch has spoken since `monitor` was set.
ALTER TABLE "devices" ADD COLUMN "watched_at" TIMESTAMPTZ(3), ADD COLUMN "watched_snmp" TEXT;
ALTER TABLE "interfaces" ADD COLUMN "duplex" TEXT;
-- The protocol version spoken last: an old collector is given no share of the watch.
ALTER TABLE "collectors" ADD COLUMN "protocol" INTEGER NOT NULL DEFAULT 1;

-- Reading a site's watch list: the devices that are watched, and nothing else.
CREATE INDEX "devices_watched" ON "devices" ("site_id", "id") INCLUDE ("address", "credential_id") WHERE "monitor";

-- Whoever changes what is to be watched (a person, a scan, a merge) tells the collectors of the site when it commits.
-- Payload: the site's id; empty: any site.
CREATE FUNCTION watch_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('rollcall_watch', CASE WHEN TG_OP = 'DELETE' THEN OLD.site_id ELSE NEW.site_id END::text);
  RETURN NULL;
END $$;
CREATE TRIGGER "devices_watch_insert" AFTER INSERT ON "devices" FOR EACH ROW WHEN (NEW.monitor) EXECUTE FUNCTION watch_changed();
CREATE TRIGGER "devices_watch_delete" AFTER DELETE ON "devices" FOR EACH ROW WHEN (OLD.monitor) EXECUTE FUNCTION watch_changed();
CREATE TRIGGER "devices_watch_update" AFTER UPDATE ON "devices" FOR EACH ROW
  WHEN (OLD.monitor <> NEW.monitor OR (NEW.monitor AND (OLD.address, OLD.credential_id) IS DISTINCT FROM (NEW.address, NEW.credential_id)))
  EXECUTE FUNCTION watch_changed();

CREATE FUNCTION watch_settings_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('rollcall_watch', CASE WHEN TG_TABLE_NAME = 'sites' THEN to_jsonb(NEW) ->> 'id' ELSE '' END);
  RETURN NULL;
END $$;
CREATE TRIGGER "sites_watch_update" AFTER UPDATE OF "settings", "exclude" ON "sites" FOR EACH ROW
  WHEN (OLD.settings IS DISTINCT FROM NEW.settings OR OLD.exclude IS DISTINCT FROM NEW.exclude)
  EXECUTE FUNCTION watch_settings_changed();
CREATE TRIGGER "credentials_watch_update" AFTER INSERT OR UPDATE ON "credentials" FOR EACH ROW EXECUTE FUNCTION watch_settings_changed();
CREATE TRIGGER "credentials_watch_delete" AFTER DELETE ON "credentials" FOR EACH STATEMENT EXECUTE FUNCTION watch_settings_changed();
