-- Lists that stay fast at millions of rows, and the memory that events need between two observations.

-- ── Exact counts without counting ──────────────────────────────────────────────────────────────────────────────
-- Every statement that adds, removes or turns rows appends what it changed, one row per combination of the fields that
-- lists filter by; a count is a sum over these. Appending takes no lock that another writer waits for. What was appended
-- is folded into the settled row of its combination from time to time (kernel/tally.ts). Same transaction as the rows
-- themselves: never early, never late.

CREATE TABLE "device_tally" (
    "id" BIGSERIAL NOT NULL,
    "site_id" UUID NOT NULL,
    "class" TEXT NOT NULL,
    "monitor" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL,
    "collector_id" UUID,
    "n" BIGINT NOT NULL,
    "settled" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "device_tally_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "device_tally_settled" ON "device_tally" ("site_id", "class", "monitor", "status", "collector_id") NULLS NOT DISTINCT WHERE "settled";
CREATE INDEX "device_tally_new" ON "device_tally" ("id") WHERE NOT "settled";

CREATE FUNCTION device_tally() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "device_tally" ("site_id", "class", "monitor", "status", "collector_id", "n")
        SELECT "site_id", "class", "monitor", "status", "collector_id", count(*) FROM added GROUP BY 1, 2, 3, 4, 5;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO "device_tally" ("site_id", "class", "monitor", "status", "collector_id", "n")
        SELECT "site_id", "class", "monitor", "status", "collector_id", -count(*) FROM removed GROUP BY 1, 2, 3, 4, 5;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO "device_tally" ("site_id", "class", "monitor", "status", "collector_id", "n")
        SELECT "site_id", "class", "monitor", "status", "collector_id", sum(n)
        FROM (SELECT "site_id", "class", "monitor", "status", "collector_id", 1 AS n FROM added
              UNION ALL
              SELECT "site_id", "class", "monitor", "status", "collector_id", -1 FROM removed) AS turned
        GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0;
    ELSE
        TRUNCATE "device_tally";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "devices_tally_insert" AFTER INSERT ON "devices" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION device_tally();
CREATE TRIGGER "devices_tally_update" AFTER UPDATE ON "devices" REFERENCING NEW TABLE AS added OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION device_tally();
CREATE TRIGGER "devices_tally_delete" AFTER DELETE ON "devices" REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION device_tally();
CREATE TRIGGER "devices_tally_truncate" AFTER TRUNCATE ON "devices" FOR EACH STATEMENT EXECUTE FUNCTION device_tally();

-- Events are counted twice: per site by the day, and (site null) of all sites together by the hour. A deep page finds
-- its place by adding buckets up instead of walking over the events before it.
CREATE TABLE "event_tally" (
    "id" BIGSERIAL NOT NULL,
    "site_id" UUID,
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "status" INTEGER NOT NULL,
    "severity" INTEGER NOT NULL,
    "source" TEXT NOT NULL,
    "n" BIGINT NOT NULL,
    "settled" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "event_tally_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "event_tally_settled" ON "event_tally" ("site_id", "bucket", "status", "severity", "source") NULLS NOT DISTINCT WHERE "settled";
CREATE INDEX "event_tally_read" ON "event_tally" ("site_id", "bucket") INCLUDE ("status", "severity", "source", "n");
CREATE INDEX "event_tally_new" ON "event_tally" ("id") WHERE NOT "settled";

-- Buckets are UTC whatever the session says.
CREATE FUNCTION event_hour(TIMESTAMPTZ) RETURNS TIMESTAMPTZ LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT date_bin('1 hour', $1, '1970-01-01 00:00:00+00') $$;
CREATE FUNCTION event_day(TIMESTAMPTZ) RETURNS TIMESTAMPTZ LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT date_bin('24 hours', $1, '1970-01-01 00:00:00+00') $$;

CREATE FUNCTION event_tally() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "event_tally" ("site_id", "bucket", "status", "severity", "source", "n")
        SELECT "site_id", event_day("timestamp"), "status", "severity", "source", count(*) FROM added GROUP BY 1, 2, 3, 4, 5
        UNION ALL
        SELECT NULL, event_hour("timestamp"), "status", "severity", "source", count(*) FROM added GROUP BY 2, 3, 4, 5;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO "event_tally" ("site_id", "bucket", "status", "severity", "source", "n")
        SELECT "site_id", event_day("timestamp"), "status", "severity", "source", -count(*) FROM removed GROUP BY 1, 2, 3, 4, 5
        UNION ALL
        SELECT NULL, event_hour("timestamp"), "status", "severity", "source", -count(*) FROM removed GROUP BY 2, 3, 4, 5;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO "event_tally" ("site_id", "bucket", "status", "severity", "source", "n")
        SELECT "site_id", event_day("timestamp"), "status", "severity", "source", sum(n)
        FROM (SELECT "site_id", "timestamp", "status", "severity", "source", 1 AS n FROM added
              UNION ALL SELECT "site_id", "timestamp", "status", "severity", "source", -1 FROM removed) AS turned
        GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0
        UNION ALL
        SELECT NULL, event_hour("timestamp"), "status", "severity", "source", sum(n)
        FROM (SELECT "timestamp", "status", "severity", "source", 1 AS n FROM added
              UNION ALL SELECT "timestamp", "status", "severity", "source", -1 FROM removed) AS turned
        GROUP BY 2, 3, 4, 5 HAVING sum(n) <> 0;
    ELSE
        TRUNCATE "event_tally";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "events_tally_insert" AFTER INSERT ON "events" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION event_tally();
CREATE TRIGGER "events_tally_update" AFTER UPDATE ON "events" REFERENCING NEW TABLE AS added OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION event_tally();
CREATE TRIGGER "events_tally_delete" AFTER DELETE ON "events" REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION event_tally();
CREATE TRIGGER "events_tally_truncate" AFTER TRUNCATE ON "events" FOR EACH STATEMENT EXECUTE FUNCTION event_tally();

INSERT INTO "device_tally" ("site_id", "class", "monitor", "status", "collector_id", "n", "settled")
SELECT "site_id", "class", "monitor", "status", "collector_id", count(*), true FROM "devices" GROUP BY 1, 2, 3, 4, 5;
INSERT INTO "event_tally" ("site_id", "bucket", "status", "severity", "source", "n", "settled")
SELECT "site_id", event_day("timestamp"), "status", "severity", "source", count(*), true FROM "events" GROUP BY 1, 2, 3, 4, 5
UNION ALL
SELECT NULL, event_hour("timestamp"), "status", "severity", "source", count(*), true FROM "events" GROUP BY 2, 3, 4, 5;

-- ── Orders and filters of the device list ──────────────────────────────────────────────────────────────────────
-- The columns beside the order let a filtered page be read off the index alone. Nothing here holds last_seen, rtt_ms or
-- missed_scans: a rescan that finds the same world touches no index (HOT update).
CREATE INDEX "devices_by_name" ON "devices" ("name", "id") INCLUDE ("site_id", "class", "monitor", "collector_id");
CREATE INDEX "devices_by_class" ON "devices" ("class", "name", "id");
CREATE INDEX "devices_by_vendor" ON "devices" ("vendor", "name", "id");
CREATE INDEX "devices_by_status" ON "devices" ("status", "name", "id");
CREATE INDEX "devices_by_address" ON "devices" ("address", "id");
CREATE INDEX "devices_by_first_seen" ON "devices" ("first_seen", "id");
CREATE INDEX "neighbours_by_remote" ON "neighbours" ("remote_device_id") WHERE "remote_device_id" IS NOT NULL;
CREATE INDEX "device_addresses_by_address" ON "device_addresses" ("address", "site_id", "device_id");

-- ── Orders and filters of the event list ───────────────────────────────────────────────────────────────────────
CREATE INDEX "events_by_time" ON "events" ("timestamp", "id") INCLUDE ("site_id", "status", "severity", "source");
DROP INDEX "events_site_id_device_id_timestamp_idx";
CREATE INDEX "events_device_id_timestamp_id_idx" ON "events" ("device_id", "timestamp", "id");
CREATE INDEX "events_live_device" ON "events" ("device_id", "severity") WHERE "status" < 2;
CREATE INDEX "events_live_site" ON "events" ("site_id", "severity", "status") WHERE "status" < 2;
DROP INDEX "events_case";
CREATE INDEX "events_by_case" ON "events" ("case_id", "timestamp", "id") INCLUDE ("status", "severity") WHERE "case_id" IS NOT NULL;

-- ── Orders and filters of the case list ────────────────────────────────────────────────────────────────────────
CREATE FUNCTION lower_all(TEXT[]) RETURNS TEXT[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT coalesce(array_agg(lower(item)), '{}') FROM unnest($1) AS item $$;
CREATE INDEX "cases_tags" ON "cases" USING gin (lower_all("tags"));
CREATE INDEX "cases_by_updated" ON "cases" ("updated_at", "id") INCLUDE ("site_id", "status", "severity", "priority");
CREATE INDEX "cases_by_created" ON "cases" ("created_at", "id");
CREATE INDEX "cases_by_status" ON "cases" ("status", "updated_at", "id");
CREATE INDEX "cases_by_severity" ON "cases" ("severity", "updated_at", "id");
CREATE INDEX "cases_by_priority" ON "cases" ("priority", "updated_at", "id");
CREATE INDEX "cases_by_assignee" ON "cases" ("assignee_id", "updated_at", "id");
CREATE INDEX "cases_by_root" ON "cases" ("root_device_id") WHERE "status" < 3;

-- ── Conditions ─────────────────────────────────────────────────────────────────────────────────────────────────
-- What may be wrong right now, before it is worth an event and until it has been right for a while.
CREATE TABLE "conditions" (
    "site_id" UUID NOT NULL,
    "dedup_key" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "present" BOOLEAN NOT NULL,
    "device_id" UUID,
    "event_id" UUID,
    "case_id" UUID,
    "onsets" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "opening" JSONB NOT NULL,

    CONSTRAINT "conditions_pkey" PRIMARY KEY ("site_id", "dedup_key"),
    CONSTRAINT "conditions_state" CHECK ("state" IN ('held', 'suppressed', 'raised', 'cleared', 'flapping'))
);
CREATE INDEX "conditions_due" ON "conditions" ("due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "conditions_device" ON "conditions" ("device_id");
CREATE INDEX "conditions_present" ON "conditions" ("site_id", "kind") WHERE "present";
