-- CreateTable
CREATE TABLE "monitoring_history" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),

    CONSTRAINT "monitoring_history_pkey" PRIMARY KEY ("site_id","device_id","since")
);

-- CreateTable
CREATE TABLE "connection_history" (
    "site_id" UUID NOT NULL,
    "collector_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),

    CONSTRAINT "connection_history_pkey" PRIMARY KEY ("site_id","collector_id","since")
);

-- CreateTable
CREATE TABLE "maintenance_history" (
    "site_id" UUID NOT NULL,
    "window_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    "scope" JSONB NOT NULL,
    "timezone" TEXT NOT NULL,
    "times" JSONB NOT NULL,

    CONSTRAINT "maintenance_history_pkey" PRIMARY KEY ("site_id","window_id","since")
);

-- CreateIndex
CREATE INDEX "monitoring_history_until_idx" ON "monitoring_history"("until");

-- CreateIndex
CREATE INDEX "connection_history_until_idx" ON "connection_history"("until");

-- CreateIndex
CREATE INDEX "maintenance_history_until_idx" ON "maintenance_history"("until");

-- AddForeignKey
ALTER TABLE "monitoring_history" ADD CONSTRAINT "monitoring_history_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_history" ADD CONSTRAINT "connection_history_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "maintenance_history" ADD CONSTRAINT "maintenance_history_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- Partial, on an expression: what `GET /api/availability` reads of a period. Most events are of other kinds.
CREATE INDEX "events_outages" ON "events" ("site_id", (COALESCE("closed_at", 'infinity')))
  WHERE "kind" IN ('device.down', 'device.unreachable', 'interface.down', 'flapping', 'snmp.unreachable', 'snmp.auth-failed');

-- Each history is written in the transaction that changes what it tells. now() is one time per transaction: what goes and
-- comes back within it is one row.
CREATE FUNCTION monitoring_history() RETURNS trigger AS $$
BEGIN
  IF NEW.monitor THEN
    INSERT INTO monitoring_history (site_id, device_id, since) VALUES (NEW.site_id, NEW.id, now())
    ON CONFLICT (site_id, device_id, since) DO UPDATE SET until = NULL;
  ELSE
    UPDATE monitoring_history SET until = now()
    WHERE site_id = NEW.site_id AND device_id = NEW.id AND until IS NULL;
  END IF;
  RETURN NULL;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER "devices_monitoring_insert" AFTER INSERT ON "devices" FOR EACH ROW
  WHEN (NEW.monitor) EXECUTE FUNCTION monitoring_history();
CREATE TRIGGER "devices_monitoring_update" AFTER UPDATE OF "monitor" ON "devices" FOR EACH ROW
  WHEN (OLD.monitor <> NEW.monitor) EXECUTE FUNCTION monitoring_history();

-- Connected: active, with a time since when. It ends when the collector was heard last, as far as the server learns it only
-- afterwards: it stayed away, or came back after a while without being missed (the server was away).
CREATE FUNCTION connection_history() RETURNS trigger AS $$
DECLARE
  was boolean := TG_OP <> 'INSERT' AND OLD.status = 'active' AND OLD.connected_at IS NOT NULL;
  is_now boolean := TG_OP <> 'DELETE' AND NEW.status = 'active' AND NEW.connected_at IS NOT NULL;
  ended timestamptz;
BEGIN
  IF was AND is_now AND OLD.last_seen_at >= now() - interval '45 seconds' THEN
    RETURN NULL;
  END IF;
  IF was THEN
    ended := CASE WHEN is_now OR NEW.status = 'active' THEN least(OLD.last_seen_at, now()) ELSE now() END;
    UPDATE connection_history SET until = greatest(since, COALESCE(ended, now()))
    WHERE site_id = OLD.site_id AND collector_id = OLD.id AND until IS NULL;
  END IF;
  IF is_now THEN
    INSERT INTO connection_history (site_id, collector_id, since) VALUES (NEW.site_id, NEW.id, now())
    ON CONFLICT (site_id, collector_id, since) DO UPDATE SET until = NULL;
  END IF;
  RETURN NULL;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER "collectors_connection_insert" AFTER INSERT ON "collectors" FOR EACH ROW
  WHEN (NEW.connected_at IS NOT NULL) EXECUTE FUNCTION connection_history();
CREATE TRIGGER "collectors_connection_update" AFTER UPDATE OF "connected_at", "status" ON "collectors" FOR EACH ROW
  WHEN (OLD.connected_at IS DISTINCT FROM NEW.connected_at OR OLD.status <> NEW.status)
  EXECUTE FUNCTION connection_history();
CREATE TRIGGER "collectors_connection_delete" AFTER DELETE ON "collectors" FOR EACH ROW
  WHEN (OLD.connected_at IS NOT NULL) EXECUTE FUNCTION connection_history();

CREATE FUNCTION maintenance_history() RETURNS trigger AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE maintenance_history SET until = now()
    WHERE site_id = OLD.site_id AND window_id = OLD.id AND until IS NULL;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.enabled THEN
    INSERT INTO maintenance_history (site_id, window_id, since, scope, timezone, times)
    VALUES (NEW.site_id, NEW.id, now(), NEW.scope, NEW.timezone, NEW.times)
    ON CONFLICT (site_id, window_id, since)
    DO UPDATE SET until = NULL, scope = EXCLUDED.scope, timezone = EXCLUDED.timezone, times = EXCLUDED.times;
  END IF;
  RETURN NULL;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER "maintenance_history_insert" AFTER INSERT OR DELETE ON "maintenance_windows" FOR EACH ROW
  EXECUTE FUNCTION maintenance_history();
CREATE TRIGGER "maintenance_history_update" AFTER UPDATE OF "enabled", "scope", "timezone", "times" ON "maintenance_windows"
  FOR EACH ROW WHEN ((OLD.enabled, OLD.scope, OLD.timezone, OLD.times) IS DISTINCT FROM (NEW.enabled, NEW.scope, NEW.timezone, NEW.times))
  EXECUTE FUNCTION maintenance_history();

-- What is so at this moment; what was so before was not kept.
INSERT INTO "monitoring_history" ("site_id", "device_id", "since") SELECT "site_id", "id", now() FROM "devices" WHERE "monitor";
INSERT INTO "connection_history" ("site_id", "collector_id", "since")
  SELECT "site_id", "id", now() FROM "collectors" WHERE "status" = 'active' AND "connected_at" IS NOT NULL;
INSERT INTO "maintenance_history" ("site_id", "window_id", "since", "scope", "timezone", "times")
  SELECT "site_id", "id", "created_at", "scope", "timezone", "times" FROM "maintenance_windows" WHERE "enabled";
