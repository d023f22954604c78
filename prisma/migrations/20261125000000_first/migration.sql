-- The first schema, in the order of prisma/schema.prisma. A comment stands where Prisma cannot express what follows: CHECK
-- constraints (closed lists; their values are those of the code), indexes that are partial, covering, GIN or GiST, functions and
-- triggers.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- ── Accounts ─────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "display_name" TEXT NOT NULL DEFAULT '',
    "password_hash" TEXT,
    "oidc_issuer" TEXT,
    "oidc_subject" TEXT,
    "role" TEXT NOT NULL,
    "all_sites" BOOLEAN NOT NULL DEFAULT false,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_login_at" TIMESTAMPTZ(3),
    "settings" JSONB NOT NULL DEFAULT '{}',
    CONSTRAINT "users_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "users_role" CHECK ("role" IN ('viewer', 'operator', 'admin')),
    -- An account signs in by a password or with a provider, never both.
    CONSTRAINT "users_sign_in" CHECK (
        ("oidc_issuer" IS NULL) = ("oidc_subject" IS NULL) AND ("password_hash" IS NULL OR "oidc_subject" IS NULL)
    )
);
CREATE UNIQUE INDEX "users_name_key" ON "users" ("name");
CREATE UNIQUE INDEX "users_oidc_issuer_oidc_subject_key" ON "users" ("oidc_issuer", "oidc_subject");

CREATE TABLE "user_sites" (
    "user_id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    CONSTRAINT "user_sites_pkey" PRIMARY KEY ("user_id", "site_id"),
    CONSTRAINT "user_sites_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "sessions" (
    "id_hash" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "user_agent" TEXT NOT NULL DEFAULT '',
    "address" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id_hash"),
    CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "sessions_id_key" ON "sessions" ("id");
CREATE INDEX "sessions_user_id_idx" ON "sessions" ("user_id");

CREATE TABLE "api_tokens" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "hint" TEXT NOT NULL,
    "read_only" BOOLEAN NOT NULL DEFAULT false,
    "site_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    CONSTRAINT "api_tokens_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "api_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "api_tokens_hash_key" ON "api_tokens" ("hash");
CREATE INDEX "api_tokens_user_id_idx" ON "api_tokens" ("user_id");

CREATE TABLE "second_factors" (
    "user_id" UUID NOT NULL,
    "sealed" BYTEA NOT NULL,
    "key_id" TEXT NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "used_step" INTEGER NOT NULL DEFAULT 0,
    "recovery" BYTEA[] NOT NULL DEFAULT ARRAY[]::BYTEA[],
    CONSTRAINT "second_factors_pkey" PRIMARY KEY ("user_id"),
    CONSTRAINT "second_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "login_failures" (
    "key" BYTEA NOT NULL,
    "count" INTEGER NOT NULL,
    "last" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "login_failures_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "login_places" (
    "user_id" UUID NOT NULL,
    "place" TEXT NOT NULL,
    "last" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "login_places_pkey" PRIMARY KEY ("user_id", "place"),
    CONSTRAINT "login_places_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "spent_sign_ins" (
    "state_hash" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "spent_sign_ins_pkey" PRIMARY KEY ("state_hash")
);

CREATE TABLE "audit" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor_id" UUID,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL DEFAULT '',
    "site_id" UUID,
    "address" TEXT NOT NULL DEFAULT '',
    "detail" JSONB NOT NULL DEFAULT '{}',
    CONSTRAINT "audit_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "audit_at_idx" ON "audit" ("at");

-- ── Sites and collectors ─────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "sites" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "networks" TEXT[],
    "allow_loopback" BOOLEAN NOT NULL DEFAULT false,
    "allow_special" BOOLEAN NOT NULL DEFAULT false,
    "exclude" TEXT[],
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "sites_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "sites_name_key" ON "sites" ("name");
-- The forward reference of user_sites.
ALTER TABLE "user_sites" ADD CONSTRAINT "user_sites_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Trigger: whoever changes what is to be watched tells the collectors of the site when it commits. Payload: the site's id;
-- empty: any site.
CREATE FUNCTION watch_settings_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('rollcall_watch', CASE WHEN TG_TABLE_NAME = 'sites' THEN to_jsonb(NEW) ->> 'id' ELSE '' END);
  RETURN NULL;
END $$;
CREATE TRIGGER "sites_watch_update" AFTER UPDATE OF "settings", "exclude" ON "sites" FOR EACH ROW
  WHEN (OLD.settings IS DISTINCT FROM NEW.settings OR OLD.exclude IS DISTINCT FROM NEW.exclude)
  EXECUTE FUNCTION watch_settings_changed();

CREATE TABLE "collectors" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "status_reason" TEXT NOT NULL DEFAULT '',
    "generation" INTEGER NOT NULL DEFAULT 0,
    "pending_generation" INTEGER,
    "pending_key" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3),
    "instance" TEXT,
    "connected_at" TIMESTAMPTZ(3),
    "hostname" TEXT NOT NULL DEFAULT '',
    "software" TEXT NOT NULL DEFAULT '',
    "health" JSONB NOT NULL DEFAULT '{}',
    "clock_offset_ms" INTEGER NOT NULL DEFAULT 0,
    "protocol" INTEGER NOT NULL DEFAULT 1,
    "addresses" INET[],
    CONSTRAINT "collectors_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "collectors_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "collectors_status" CHECK ("status" IN ('active', 'quarantined', 'revoked'))
);
CREATE UNIQUE INDEX "collectors_site_id_name_key" ON "collectors" ("site_id", "name");

CREATE TABLE "retired_keys" (
    "collector_id" UUID NOT NULL,
    "public_key" BYTEA NOT NULL,
    "retired_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "retired_keys_pkey" PRIMARY KEY ("collector_id", "public_key"),
    CONSTRAINT "retired_keys_collector_id_fkey" FOREIGN KEY ("collector_id") REFERENCES "collectors" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "join_tokens" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "collector_id" UUID,
    CONSTRAINT "join_tokens_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "join_tokens_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "join_tokens_hash_key" ON "join_tokens" ("hash");

CREATE TABLE "credentials" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "key_id" TEXT NOT NULL,
    "facts" JSONB NOT NULL DEFAULT '{}',
    "position" INTEGER NOT NULL DEFAULT 100,
    "all_sites" BOOLEAN NOT NULL DEFAULT true,
    "site_ids" UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "credentials_pkey" PRIMARY KEY ("id")
);
-- Unique among all, a refused name would tell which names stand at sites that its maker does not see.
-- A digest of the sites: an entry of an index holds no more than some 160 of them. Prisma has no indexes of expressions.
CREATE UNIQUE INDEX "credentials_name_by_sites" ON "credentials" ("name", "all_sites", hash_array_extended("site_ids", 0));
-- Triggers: they change what is watched anywhere.
CREATE TRIGGER "credentials_watch_update" AFTER INSERT OR UPDATE ON "credentials" FOR EACH ROW EXECUTE FUNCTION watch_settings_changed();
CREATE TRIGGER "credentials_watch_delete" AFTER DELETE ON "credentials" FOR EACH STATEMENT EXECUTE FUNCTION watch_settings_changed();

CREATE TABLE "profiles" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "settings" JSONB NOT NULL,
    "built_in" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "profiles_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "profiles_name_key" ON "profiles" ("name");

CREATE TABLE "schedules" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "targets" TEXT NOT NULL,
    "profile" TEXT NOT NULL,
    "cron" TEXT NOT NULL,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_run_at" TIMESTAMPTZ(3),
    "last_scan_id" UUID,
    "next_run_at" TIMESTAMPTZ(3),
    CONSTRAINT "schedules_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "schedules_site_id_name_key" ON "schedules" ("site_id", "name");

-- ── Scans ────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "scans" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "targets" TEXT NOT NULL,
    "profile" TEXT NOT NULL,
    "settings" JSONB NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "status_reason" TEXT NOT NULL DEFAULT '',
    "created_by" UUID,
    "created_by_name" TEXT NOT NULL DEFAULT '',
    "idempotency_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "addresses_total" INTEGER NOT NULL,
    "devices_found" INTEGER,
    "devices_new" INTEGER NOT NULL DEFAULT 0,
    "devices_changed" INTEGER NOT NULL DEFAULT 0,
    "followed_from" UUID,
    CONSTRAINT "scans_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "scans_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "scans_status" CHECK ("status" IN ('queued', 'running', 'completed', 'partial', 'failed', 'cancelled'))
);
CREATE INDEX "scans_site_id_created_at_idx" ON "scans" ("site_id", "created_at");
CREATE INDEX "scans_followed_from_idx" ON "scans" ("followed_from");
-- Partial: the same key by the same caller is the same scan.
CREATE UNIQUE INDEX "scans_idempotency" ON "scans" ("created_by", "idempotency_key") WHERE "idempotency_key" IS NOT NULL;
-- Partial: unfinished scans are few among many finished ones, and every claim asks for them.
CREATE INDEX "scans_open" ON "scans" ("site_id") WHERE "status" IN ('queued', 'running');

CREATE TABLE "jobs" (
    "id" UUID NOT NULL,
    "scan_id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "cidr" TEXT NOT NULL,
    "spans" JSONB NOT NULL,
    "size" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "status_reason" TEXT NOT NULL DEFAULT '',
    "collector_id" UUID,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "holders" JSONB NOT NULL DEFAULT '{}',
    "lease_expires_at" TIMESTAMPTZ(3),
    "not_before" TIMESTAMPTZ(3),
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "outcomes" TEXT NOT NULL DEFAULT '',
    "notes" JSONB NOT NULL DEFAULT '{}',
    "probed" INTEGER NOT NULL DEFAULT 0,
    "alive" INTEGER NOT NULL DEFAULT 0,
    "devices" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3),
    "progress_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "jobs_scan_id_fkey" FOREIGN KEY ("scan_id") REFERENCES "scans" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "jobs_status" CHECK ("status" IN ('queued', 'leased', 'done', 'deferred', 'failed', 'cancelled')),
    CONSTRAINT "jobs_outcomes" CHECK ("outcomes" = '' OR length("outcomes") = "size")
);
CREATE INDEX "jobs_site_id_status_idx" ON "jobs" ("site_id", "status");
CREATE UNIQUE INDEX "jobs_scan_id_position_key" ON "jobs" ("scan_id", "position");
-- Partial: what may be offered, what may have lost its holder, what a collector holds.
CREATE INDEX "jobs_claimable" ON "jobs" ("site_id", "scan_id", "position") WHERE "status" IN ('queued', 'deferred');
CREATE INDEX "jobs_leased" ON "jobs" ("lease_expires_at") WHERE "status" = 'leased';
CREATE INDEX "jobs_held" ON "jobs" ("collector_id") WHERE "status" = 'leased';

-- ── Ingest ───────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "collector_streams" (
    "collector_id" UUID NOT NULL,
    "epoch" UUID NOT NULL,
    "stream" TEXT NOT NULL,
    "through" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "latest_at" TIMESTAMPTZ(3),
    "settled_until" TIMESTAMPTZ(3),
    CONSTRAINT "collector_streams_pkey" PRIMARY KEY ("collector_id", "epoch", "stream"),
    CONSTRAINT "collector_streams_collector_id_fkey" FOREIGN KEY ("collector_id") REFERENCES "collectors" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "collector_streams_stream" CHECK ("stream" IN ('state', 'event', 'sample'))
);

CREATE TABLE "dead_letters" (
    "site_id" UUID NOT NULL,
    "collector_id" UUID NOT NULL,
    "epoch" UUID NOT NULL,
    "stream" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "reason" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("site_id", "collector_id", "epoch", "stream", "seq")
);

CREATE TABLE "gaps" (
    "site_id" UUID NOT NULL,
    "collector_id" UUID NOT NULL,
    "epoch" UUID NOT NULL,
    "stream" TEXT NOT NULL,
    "from_seq" BIGINT NOT NULL,
    "to_seq" BIGINT NOT NULL,
    "count" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "gaps_pkey" PRIMARY KEY ("site_id", "collector_id", "epoch", "stream", "from_seq")
);

-- ── Inventory ────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "custom_fields" (
    "id" UUID NOT NULL,
    "applies_to" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "choices" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "custom_fields_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "custom_fields_applies_to" CHECK ("applies_to" IN ('device', 'interface')),
    CONSTRAINT "custom_fields_type" CHECK ("type" IN ('text', 'number', 'boolean', 'date', 'choice', 'url'))
);
CREATE UNIQUE INDEX "custom_fields_applies_to_name_key" ON "custom_fields" ("applies_to", "name");

CREATE FUNCTION lower_all(TEXT[]) RETURNS TEXT[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT coalesce(array_agg(lower(item)), '{}') FROM unnest($1) AS item $$;

-- Trigger: tags, note and fields are found by `search` whoever writes them (a person, an import, a merge of two records).
CREATE FUNCTION own_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.own_text := left(lower(trim(regexp_replace(concat_ws(' ', array_to_string(NEW.tags, ' '),
        (SELECT string_agg(value, ' ' ORDER BY key) FROM jsonb_each_text(NEW.fields)), NEW.note), '\s+', ' ', 'g'))), 3000);
    RETURN NEW;
END $$;

CREATE TABLE "devices" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "collector_id" UUID,
    "name" TEXT NOT NULL,
    "sort_name" TEXT NOT NULL DEFAULT '',
    "name_override" TEXT,
    "address" INET,
    "mac_address" TEXT,
    "class" TEXT NOT NULL DEFAULT 'unknown',
    "class_override" TEXT,
    "thresholds" JSONB,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "note" TEXT NOT NULL DEFAULT '',
    "fields" JSONB NOT NULL DEFAULT '{}',
    "set_by" JSONB NOT NULL DEFAULT '{}',
    "own_text" TEXT NOT NULL DEFAULT '',
    "vendor" TEXT,
    "model" TEXT,
    "os" TEXT,
    "os_version" TEXT,
    "serial_number" TEXT,
    "sys_name" TEXT,
    "sys_descr" TEXT,
    "sys_object_id" TEXT,
    "location" TEXT,
    "contact" TEXT,
    "classified_by" JSONB NOT NULL DEFAULT '{}',
    "booted_at" TIMESTAMPTZ(3),
    "monitor" BOOLEAN NOT NULL DEFAULT false,
    "status" TEXT NOT NULL DEFAULT 'unknown',
    "icmp_reachable" BOOLEAN,
    "snmp_reachable" BOOLEAN,
    "credential_id" UUID,
    "snmp_version" TEXT,
    "interface_count" INTEGER NOT NULL DEFAULT 0,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "missed_scans" INTEGER NOT NULL DEFAULT 0,
    "gone_at" TIMESTAMPTZ(3),
    "search_text" TEXT NOT NULL DEFAULT '',
    "watched_snmp" TEXT,
    "health" SMALLINT NOT NULL DEFAULT 2,
    CONSTRAINT "devices_pkey" PRIMARY KEY ("site_id", "id"),
    CONSTRAINT "devices_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "devices_status" CHECK ("status" IN ('up', 'down', 'unknown')),
    CONSTRAINT "devices_health" CHECK ("health" BETWEEN 0 AND 3)
);
CREATE UNIQUE INDEX "devices_id_key" ON "devices" ("id");
CREATE INDEX "devices_site_id_sort_name_id_idx" ON "devices" ("site_id", "sort_name", "id");
-- Devices are also named in filters.
CREATE INDEX "devices_name_idx" ON "devices" ("name");
-- Covering (INCLUDE): a filtered page of each order is read from the index alone. Nothing here holds what every rescan
-- changes, so a rescan that finds the same world touches no index (HOT update).
CREATE INDEX "devices_by_name" ON "devices" ("sort_name", "id") INCLUDE ("site_id", "class", "monitor", "collector_id");
CREATE INDEX "devices_by_class" ON "devices" ("class", "sort_name", "id") INCLUDE ("site_id", "monitor", "collector_id");
CREATE INDEX "devices_by_vendor" ON "devices" ("vendor", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_model" ON "devices" ("model", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_status" ON "devices" ("status", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_health" ON "devices" ("health", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_address" ON "devices" ("address", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_first_seen" ON "devices" ("first_seen", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_monitor" ON "devices" ("monitor", "sort_name", "id") INCLUDE ("site_id");
CREATE INDEX "devices_by_collector" ON "devices" ("collector_id", "sort_name", "id") INCLUDE ("site_id", "class", "monitor");
-- Partial, covering: what a collector is to watch, read whole whenever it changes.
CREATE INDEX "devices_watched" ON "devices" ("site_id", "id") INCLUDE ("address", "credential_id", "class") WHERE "monitor";
-- Trigrams: substring search.
CREATE INDEX "devices_search_text_trgm" ON "devices" USING gin ("search_text" gin_trgm_ops);
-- GIN, partial: what people say of devices, which is nothing of most.
CREATE INDEX "devices_own_text_trgm" ON "devices" USING gin ("own_text" gin_trgm_ops) WHERE "own_text" <> '';
CREATE INDEX "devices_tags" ON "devices" USING gin (lower_all("tags")) WHERE "own_text" <> '';
CREATE INDEX "devices_fields" ON "devices" USING gin ("fields" jsonb_path_ops) WHERE "own_text" <> '';
CREATE TRIGGER "devices_own_text" BEFORE UPDATE OF "tags", "note", "fields" ON "devices"
    FOR EACH ROW EXECUTE FUNCTION own_text();
CREATE TRIGGER "devices_own_text_insert" BEFORE INSERT ON "devices" FOR EACH ROW
    WHEN (NEW."tags" <> '{}' OR NEW."note" <> '' OR NEW."fields" <> '{}') EXECUTE FUNCTION own_text();

-- Trigger: devices are listed as people count, access-2 before access-10. `sort_name` follows the name, and the indexes of
-- the list end in it.
CREATE FUNCTION natural_order(TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(string_agg(
        CASE WHEN part[1] IS NULL THEN lower(part[2])
             ELSE lpad(ltrim(part[1], '0'), greatest(12, length(ltrim(part[1], '0'))), '0') END, '' ORDER BY n), '')
    FROM regexp_matches($1, '(\d+)|(\D+)', 'g') WITH ORDINALITY AS found(part, n)
$$;
-- Devices without a name are called by their address: they are listed behind those that have one. U+10FFFD, the last
-- character, is behind all names in every collation.
CREATE FUNCTION device_sort_key(TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN $1 ~ '^(\d+(\.\d+){3}|[0-9A-Fa-f]*(:[0-9A-Fa-f.]*){2,})$' THEN chr(1114109) ELSE '' END || natural_order($1)
$$;
CREATE FUNCTION device_sort_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.sort_name := device_sort_key(NEW.name);
    RETURN NEW;
END $$;
CREATE TRIGGER "devices_sort_name" BEFORE INSERT OR UPDATE OF "name" ON "devices"
    FOR EACH ROW EXECUTE FUNCTION device_sort_name();

-- Triggers: a person, a scan or a merge changed what is to be watched. Of which class a device is decides whether its
-- forwarding and ARP tables are read.
CREATE FUNCTION watch_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('rollcall_watch', CASE WHEN TG_OP = 'DELETE' THEN OLD.site_id ELSE NEW.site_id END::text);
  RETURN NULL;
END $$;
CREATE TRIGGER "devices_watch_insert" AFTER INSERT ON "devices" FOR EACH ROW WHEN (NEW.monitor) EXECUTE FUNCTION watch_changed();
CREATE TRIGGER "devices_watch_delete" AFTER DELETE ON "devices" FOR EACH ROW WHEN (OLD.monitor) EXECUTE FUNCTION watch_changed();
CREATE TRIGGER "devices_watch_update" AFTER UPDATE ON "devices" FOR EACH ROW
  WHEN (OLD.monitor <> NEW.monitor OR (NEW.monitor
    AND (OLD.address, OLD.credential_id, OLD.class) IS DISTINCT FROM (NEW.address, NEW.credential_id, NEW.class)))
  EXECUTE FUNCTION watch_changed();

CREATE TABLE "sightings" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_scan_id" UUID,
    "rtt_ms" DOUBLE PRECISION,
    "walk" UUID,
    "merged_at" TIMESTAMPTZ(3),
    "received" JSONB NOT NULL DEFAULT '{}',
    "watched_at" TIMESTAMPTZ(3),
    CONSTRAINT "sightings_pkey" PRIMARY KEY ("site_id", "device_id"),
    CONSTRAINT "sightings_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX "sightings_site_id_last_scan_id_idx" ON "sightings" ("site_id", "last_scan_id");
-- Covering: the order of the list of sightings.
CREATE INDEX "sightings_by_last_seen" ON "sightings" ("last_seen", "device_id") INCLUDE ("site_id");

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
-- Partial, NULLS NOT DISTINCT: one settled row per combination, and the rows to fold into it (kernel/tally.ts).
CREATE UNIQUE INDEX "device_tally_settled" ON "device_tally" ("site_id", "class", "monitor", "status", "collector_id") NULLS NOT DISTINCT WHERE "settled";
CREATE INDEX "device_tally_new" ON "device_tally" ("id") WHERE NOT "settled";
-- Covering: the number of devices of one site, from the index alone.
CREATE INDEX "device_tally_read" ON "device_tally" ("site_id") INCLUDE ("class", "monitor", "status", "collector_id", "n");

-- Triggers: every statement that adds, removes or changes rows appends what it changed, one row per combination of the
-- fields that lists filter by; a count is a sum over these. Appending takes no lock that another writer waits for. Same
-- transaction as the rows themselves: never early, never late.
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

CREATE TABLE "evidence" (
    "site_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "device_id" UUID NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "evidence_pkey" PRIMARY KEY ("site_id", "kind", "value"),
    CONSTRAINT "evidence_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "evidence_device_id_site_id_idx" ON "evidence" ("device_id", "site_id");

CREATE TABLE "identity_decisions" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "verb" TEXT NOT NULL,
    "device_id" UUID NOT NULL,
    "other_id" UUID NOT NULL,
    "evidence" JSONB NOT NULL DEFAULT '[]',
    "moved" JSONB,
    "user_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "undone_at" TIMESTAMPTZ(3),
    CONSTRAINT "identity_decisions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "identity_decisions_site_id_device_id_idx" ON "identity_decisions" ("site_id", "device_id");

CREATE TABLE "device_addresses" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "address" INET NOT NULL,
    "prefix_length" INTEGER,
    "if_index" BIGINT,
    "origin" TEXT NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "device_addresses_pkey" PRIMARY KEY ("site_id", "device_id", "address"),
    CONSTRAINT "device_addresses_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
-- Covering: how many devices of a site have an address in a network.
CREATE INDEX "device_addresses_site_id_address_idx" ON "device_addresses" ("site_id", "address") INCLUDE ("device_id");
-- GiST: an address, or the addresses of a network, at any site. Not SP-GiST: PostgreSQL 15.19 was seen to lose IPv6 addresses in
-- such an index that grew from nothing with both families.
CREATE INDEX "device_addresses_in_network" ON "device_addresses" USING gist ("address" inet_ops) INCLUDE ("site_id", "device_id");

CREATE TABLE "interfaces" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "if_index" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "alias" TEXT,
    "type" INTEGER,
    "speed_bps" BIGINT,
    "mtu" INTEGER,
    "mac_address" TEXT,
    "admin_status" INTEGER,
    "oper_status" INTEGER,
    "last_change" TIMESTAMPTZ(3),
    "last_up_at" TIMESTAMPTZ(3),
    "vlan" INTEGER,
    "tagged_vlans" INTEGER[],
    "duplex" TEXT,
    "stp" TEXT,
    "aggregate" BIGINT,
    "aggregate_active" BOOLEAN,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "gone_at" TIMESTAMPTZ(3),
    "thresholds" JSONB,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "note" TEXT NOT NULL DEFAULT '',
    "fields" JSONB NOT NULL DEFAULT '{}',
    "set_by" JSONB NOT NULL DEFAULT '{}',
    "own_text" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "interfaces_pkey" PRIMARY KEY ("site_id", "id"),
    CONSTRAINT "interfaces_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "interfaces_site_id_device_id_if_index_key" ON "interfaces" ("site_id", "device_id", "if_index");
-- GIN, partial: the search for interfaces by what people wrote on them.
CREATE INDEX "interfaces_alias_trgm" ON "interfaces" USING gin (lower("alias") gin_trgm_ops) WHERE "alias" <> '';
CREATE INDEX "interfaces_own_text_trgm" ON "interfaces" USING gin ("own_text" gin_trgm_ops) WHERE "own_text" <> '';
CREATE TRIGGER "interfaces_own_text" BEFORE UPDATE OF "tags", "note", "fields" ON "interfaces"
    FOR EACH ROW EXECUTE FUNCTION own_text();
CREATE TRIGGER "interfaces_own_text_insert" BEFORE INSERT ON "interfaces" FOR EACH ROW
    WHEN (NEW."tags" <> '{}' OR NEW."note" <> '' OR NEW."fields" <> '{}') EXECUTE FUNCTION own_text();
-- Partial, on an expression: ports without a link of a site by how long they were not up (catalog/free-ports.ts).
CREATE INDEX "interfaces_free" ON "interfaces" ("site_id", (coalesce("last_up_at", least("last_change", "first_seen"))))
    WHERE "oper_status" IN (2, 6, 7) AND "type" IN (6, 7, 26, 56, 62, 69, 117, 199) AND "gone_at" IS NULL;
-- Partial: an interface by its hardware address.
CREATE INDEX "interfaces_by_mac" ON "interfaces" ("mac_address", "site_id") WHERE "mac_address" IS NOT NULL;

CREATE TABLE "entities" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "index" INTEGER NOT NULL,
    "class" TEXT NOT NULL,
    "name" TEXT,
    "description" TEXT,
    "model" TEXT,
    "serial" TEXT,
    "manufacturer" TEXT,
    "hardware_revision" TEXT,
    "firmware_revision" TEXT,
    "software_revision" TEXT,
    "parent" INTEGER,
    "position" INTEGER,
    "fru" BOOLEAN,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "entities_pkey" PRIMARY KEY ("site_id", "device_id", "index"),
    CONSTRAINT "entities_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
-- GIN, partial: the search for devices by the serial numbers of their parts.
CREATE INDEX "entities_serial_trgm" ON "entities" USING gin (lower("serial") gin_trgm_ops) WHERE "serial" <> '';

CREATE TABLE "neighbours" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "protocol" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "if_index" BIGINT,
    "local_port" TEXT,
    "chassis_id" TEXT,
    "port_id" TEXT,
    "port_description" TEXT,
    "sys_name" TEXT,
    "sys_descr" TEXT,
    "platform" TEXT,
    "capabilities" TEXT[],
    "addresses" INET[],
    "remote_device_id" UUID,
    "remote_if_index" BIGINT,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "neighbours_pkey" PRIMARY KEY ("site_id", "device_id", "protocol", "key"),
    CONSTRAINT "neighbours_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
-- GIN, partial: the search for endpoints by the name that they tell by LLDP; those of the inventory are found as devices.
CREATE INDEX "neighbours_sys_name_trgm" ON "neighbours" USING gin (lower("sys_name") gin_trgm_ops)
    WHERE "sys_name" <> '' AND "remote_device_id" IS NULL;
CREATE INDEX "neighbours_site_id_remote_device_id_idx" ON "neighbours" ("site_id", "remote_device_id");
-- Partial.
CREATE INDEX "neighbours_by_remote" ON "neighbours" ("remote_device_id") WHERE "remote_device_id" IS NOT NULL;

CREATE TABLE "device_facts" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "group" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "hash" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "complete" BOOLEAN NOT NULL DEFAULT true,
    CONSTRAINT "device_facts_pkey" PRIMARY KEY ("site_id", "device_id", "group"),
    CONSTRAINT "device_facts_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "endpoints" (
    "site_id" UUID NOT NULL,
    "mac" TEXT NOT NULL,
    "device_id" UUID NOT NULL,
    "if_index" BIGINT NOT NULL,
    "vlan" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    "resumed_at" TIMESTAMPTZ(3),
    "name" TEXT,
    CONSTRAINT "endpoints_pkey" PRIMARY KEY ("site_id", "mac", "device_id", "if_index", "vlan", "address", "since"),
    CONSTRAINT "endpoints_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "endpoints_site_id_device_id_if_index_idx" ON "endpoints" ("site_id", "device_id", "if_index");
CREATE INDEX "endpoints_until_idx" ON "endpoints" ("until");
-- Partial: what a port has in its forwarding table now, from the index alone.
CREATE INDEX "endpoints_open" ON "endpoints" ("site_id", "device_id", "if_index", "mac") WHERE "until" IS NULL AND "address" = '';
-- Partial, text_pattern_ops: an IP address or its beginning.
CREATE INDEX "endpoints_address" ON "endpoints" ("address" text_pattern_ops, "site_id", "mac") WHERE "address" <> '';
-- Partial: most entries of ARP tables tell no VLAN.
CREATE INDEX "endpoints_vlan" ON "endpoints" ("vlan", "site_id", "mac") WHERE "vlan" > 0;
-- GIN, partial: a part of a name by reverse DNS.
CREATE INDEX "endpoints_name_trgm" ON "endpoints" USING gin ("name" gin_trgm_ops) WHERE "name" IS NOT NULL;

CREATE TABLE "endpoint_macs" (
    "site_id" UUID NOT NULL,
    "mac" TEXT NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "gone_at" TIMESTAMPTZ(3),
    "reported" JSONB,
    "due_at" TIMESTAMPTZ(3),
    CONSTRAINT "endpoint_macs_pkey" PRIMARY KEY ("site_id", "mac"),
    CONSTRAINT "endpoint_macs_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "endpoint_macs_mac_site_id_idx" ON "endpoint_macs" ("mac", "site_id");
CREATE INDEX "endpoint_macs_first_seen_mac_site_id_idx" ON "endpoint_macs" ("first_seen", "mac", "site_id");
CREATE INDEX "endpoint_macs_gone_at_mac_site_id_idx" ON "endpoint_macs" ("gone_at", "mac", "site_id");
-- GIN over an expression: a part of an address, whatever its notation.
CREATE INDEX "endpoint_macs_digits_trgm" ON "endpoint_macs" USING gin (replace("mac", ':', '') gin_trgm_ops);
-- On an expression: the addresses of a maker, by the prefix of 24 bits.
CREATE INDEX "endpoint_macs_prefix" ON "endpoint_macs" (left("mac", 8), "site_id");
-- Collation C: addresses of a site that begin so, whatever the collation of the database is.
CREATE INDEX "endpoint_macs_start" ON "endpoint_macs" ("site_id", "mac" COLLATE "C");
-- Partial: few are due at a time.
CREATE INDEX "endpoint_macs_due" ON "endpoint_macs" ("site_id", "due_at") WHERE "due_at" IS NOT NULL;

-- Triggers: the list is right in the transaction that changes an interval, whoever changes it. In the order of the key, so
-- that two writers of one site wait for each other and never in a circle. The argument selects the intervals that changed: of
-- an update not those that differ by the name alone, which does not say where an address is.
CREATE FUNCTION endpoint_macs_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($told$
        INSERT INTO "endpoint_macs" AS m ("site_id", "mac", "first_seen", "gone_at", "due_at")
        SELECT t."site_id", t."mac", e.first_seen, e.gone_at, t.changed_at
        FROM (SELECT "site_id", "mac", max(coalesce("until", "resumed_at", "since")) AS changed_at FROM (%s) c GROUP BY 1, 2) t
        CROSS JOIN LATERAL (SELECT min(e."since") AS first_seen, CASE WHEN bool_and(e."until" IS NOT NULL) THEN max(e."until") END AS gone_at
            FROM "endpoints" e WHERE e."site_id" = t."site_id" AND e."mac" = t."mac") e
        ORDER BY t."site_id", t."mac"
        ON CONFLICT ("site_id", "mac") DO UPDATE
        SET "first_seen" = least(m."first_seen", EXCLUDED."first_seen"), "gone_at" = EXCLUDED."gone_at", "due_at" = least(m."due_at", EXCLUDED."due_at")
        WHERE m."first_seen" > EXCLUDED."first_seen" OR m."gone_at" IS DISTINCT FROM EXCLUDED."gone_at"
          OR m."due_at" IS NULL OR m."due_at" > EXCLUDED."due_at" $told$, TG_ARGV[0]);
    RETURN NULL;
END $$;
CREATE TRIGGER "endpoints_macs_insert" AFTER INSERT ON "endpoints" REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION endpoint_macs_told('TABLE added');
CREATE TRIGGER "endpoints_macs_update" AFTER UPDATE ON "endpoints" REFERENCING NEW TABLE AS added OLD TABLE AS removed FOR EACH STATEMENT
    EXECUTE FUNCTION endpoint_macs_told('SELECT "site_id", "mac", "device_id", "if_index", "vlan", "address", "since", "until", "resumed_at" FROM added
        EXCEPT SELECT "site_id", "mac", "device_id", "if_index", "vlan", "address", "since", "until", "resumed_at" FROM removed');

-- For each row: deletes that come along a foreign key of a partitioned table fire no trigger of statements.
CREATE FUNCTION endpoint_macs_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "endpoint_macs" m SET "gone_at" = e.gone_at, "due_at" = least(m."due_at", coalesce(e.gone_at, now()))
    FROM (SELECT count(*) AS n, CASE WHEN bool_and(e."until" IS NOT NULL) THEN max(e."until") END AS gone_at
        FROM "endpoints" e WHERE e."site_id" = OLD."site_id" AND e."mac" = OLD."mac") e
    WHERE m."site_id" = OLD."site_id" AND m."mac" = OLD."mac" AND e.n > 0 AND m."gone_at" IS DISTINCT FROM e.gone_at;
    DELETE FROM "endpoint_macs" m WHERE m."site_id" = OLD."site_id" AND m."mac" = OLD."mac"
        AND NOT EXISTS (SELECT 1 FROM "endpoints" e WHERE e."site_id" = OLD."site_id" AND e."mac" = OLD."mac");
    RETURN NULL;
END $$;
CREATE TRIGGER "endpoints_macs_delete" AFTER DELETE ON "endpoints" FOR EACH ROW EXECUTE FUNCTION endpoint_macs_forgotten();

CREATE TABLE "endpoint_tally" (
    "id" BIGSERIAL NOT NULL,
    "site_id" UUID NOT NULL,
    "n" BIGINT NOT NULL,
    "settled" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "endpoint_tally_pkey" PRIMARY KEY ("id")
);
-- Partial, covering: as those of device_tally.
CREATE UNIQUE INDEX "endpoint_tally_settled" ON "endpoint_tally" ("site_id") WHERE "settled";
CREATE INDEX "endpoint_tally_new" ON "endpoint_tally" ("id") WHERE NOT "settled";
CREATE INDEX "endpoint_tally_read" ON "endpoint_tally" ("site_id") INCLUDE ("n");

-- Triggers, as those of device_tally; of deletes for each row, as those of endpoints.
CREATE FUNCTION endpoint_tally() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "endpoint_tally" ("site_id", "n") SELECT "site_id", count(*) FROM added GROUP BY 1;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO "endpoint_tally" ("site_id", "n") VALUES (OLD."site_id", -1);
    ELSE
        TRUNCATE "endpoint_tally";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "endpoint_macs_tally_insert" AFTER INSERT ON "endpoint_macs" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION endpoint_tally();
CREATE TRIGGER "endpoint_macs_tally_delete" AFTER DELETE ON "endpoint_macs" FOR EACH ROW EXECUTE FUNCTION endpoint_tally();
CREATE TRIGGER "endpoint_macs_tally_truncate" AFTER TRUNCATE ON "endpoint_macs" FOR EACH STATEMENT EXECUTE FUNCTION endpoint_tally();

CREATE TABLE "endpoint_changes" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "mac" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "device_id" UUID,
    "interface_id" UUID,
    "from_device_id" UUID,
    "from_interface_id" UUID,
    "collector_id" UUID,
    "before" JSONB NOT NULL,
    "after" JSONB NOT NULL,
    CONSTRAINT "endpoint_changes_pkey" PRIMARY KEY ("site_id", "id"),
    CONSTRAINT "endpoint_changes_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "endpoint_changes_site_id_at_id_idx" ON "endpoint_changes" ("site_id", "at", "id");
CREATE INDEX "endpoint_changes_at_id_idx" ON "endpoint_changes" ("at", "id");
CREATE INDEX "endpoint_changes_device_id_at_idx" ON "endpoint_changes" ("device_id", "at");
-- Partial: only those that moved came from somewhere.
CREATE INDEX "endpoint_changes_from" ON "endpoint_changes" ("from_device_id", "at") WHERE "from_device_id" IS NOT NULL;

CREATE TABLE "walk_parts" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "table_name" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "walk" UUID NOT NULL,
    "rows" JSONB NOT NULL,
    CONSTRAINT "walk_parts_pkey" PRIMARY KEY ("site_id", "device_id", "table_name", "part"),
    CONSTRAINT "walk_parts_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- ── Measurements ─────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "samples" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "part" BIGINT NOT NULL,
    "over_ms" INTEGER NOT NULL,
    "data" JSONB NOT NULL,
    "highest" JSONB NOT NULL DEFAULT '{}',
    "unsent" BOOLEAN,
    CONSTRAINT "samples_pkey" PRIMARY KEY ("site_id", "device_id", "at", "part"),
    CONSTRAINT "samples_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "samples_at_idx" ON "samples" ("at");
-- Partial: what waits for the engine, the oldest of a site first; nothing where there is none. Sites take turns.
CREATE INDEX "samples_unsent_by_site" ON "samples" ("site_id", "at") WHERE "unsent";
-- Partial: what the engine has, to be deleted, without walking over what waits.
CREATE INDEX "samples_sent" ON "samples" ("at") WHERE NOT "unsent";

CREATE TABLE "sensors" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "component" TEXT NOT NULL,
    "value" DOUBLE PRECISION,
    "used_bytes" DOUBLE PRECISION,
    "total_bytes" DOUBLE PRECISION,
    "state" TEXT,
    "status" TEXT,
    "limits" JSONB NOT NULL DEFAULT '{}',
    "if_index" BIGINT,
    "health" SMALLINT NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "health_since" TIMESTAMPTZ(3) NOT NULL,
    "above_since" TIMESTAMPTZ(3),
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "gone_at" TIMESTAMPTZ(3),
    CONSTRAINT "sensors_pkey" PRIMARY KEY ("site_id", "device_id", "key"),
    CONSTRAINT "sensors_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "sensors_health" CHECK ("health" BETWEEN 0 AND 3)
);
CREATE UNIQUE INDEX "sensors_id_key" ON "sensors" ("id");
-- Partial: lists show what is there. What is written with each reading stands in none of them.
CREATE INDEX "sensors_by_health" ON "sensors" ("health", "device_id", "id") INCLUDE ("site_id") WHERE "gone_at" IS NULL;
CREATE INDEX "sensors_by_kind" ON "sensors" ("kind", "health", "device_id", "id") INCLUDE ("site_id") WHERE "gone_at" IS NULL;

CREATE TABLE "baselines" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "hour" INTEGER NOT NULL,
    "weeks" INTEGER NOT NULL,
    "rtt_ms" DOUBLE PRECISION,
    "rtt_spread_ms" DOUBLE PRECISION NOT NULL,
    "loss" DOUBLE PRECISION NOT NULL,
    "loss_spread" DOUBLE PRECISION NOT NULL,
    CONSTRAINT "baselines_pkey" PRIMARY KEY ("site_id", "device_id", "hour"),
    CONSTRAINT "baselines_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "traffic_baselines" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "traffic" JSONB NOT NULL,
    CONSTRAINT "traffic_baselines_pkey" PRIMARY KEY ("site_id", "device_id"),
    CONSTRAINT "traffic_baselines_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "sample_chunks" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "step" INTEGER NOT NULL,
    "begins" TIMESTAMPTZ(3) NOT NULL,
    "summarised" BOOLEAN NOT NULL DEFAULT false,
    "data" BYTEA NOT NULL,
    CONSTRAINT "sample_chunks_pkey" PRIMARY KEY ("site_id", "device_id", "step", "begins"),
    CONSTRAINT "sample_chunks_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "sample_chunks_step_begins_idx" ON "sample_chunks" ("step", "begins");
-- Partial: what waits to be summarised; means of an hour wait until their 30 days are over.
CREATE INDEX "sample_chunks_unsummarised" ON "sample_chunks" ("step", "begins") WHERE "step" IN (0, 3600) AND NOT "summarised";
-- Chunks are compressed already. PostgreSQL 15 takes no STORAGE in CREATE TABLE.
ALTER TABLE "sample_chunks" ALTER COLUMN "data" SET STORAGE EXTERNAL;

-- ── Incidents ────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "events" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "device_id" UUID,
    "interface_id" UUID,
    "collector_id" UUID,
    "case_id" UUID,
    "kind" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "severity" INTEGER NOT NULL,
    "status" INTEGER NOT NULL DEFAULT 0,
    "message" TEXT NOT NULL,
    "details" JSONB NOT NULL DEFAULT '{}',
    "dedup_key" TEXT NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 1,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "acknowledged_at" TIMESTAMPTZ(3),
    "acknowledged_by" TEXT,
    "acknowledged_until" TEXT,
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,
    "close_reason" TEXT,
    "maintenance_until" TIMESTAMPTZ(3),
    CONSTRAINT "events_pkey" PRIMARY KEY ("site_id", "id"),
    CONSTRAINT "events_severity" CHECK ("severity" BETWEEN 1 AND 5),
    CONSTRAINT "events_status" CHECK ("status" BETWEEN 0 AND 2)
);
CREATE INDEX "events_site_id_timestamp_id_idx" ON "events" ("site_id", "timestamp", "id");
CREATE INDEX "events_device_id_timestamp_id_idx" ON "events" ("device_id", "timestamp", "id");
CREATE UNIQUE INDEX "events_id_key" ON "events" ("id");
-- Partial: one live event per key; the next occurrence counts up.
CREATE UNIQUE INDEX "events_live_key" ON "events" ("site_id", "dedup_key") WHERE "status" < 2;
-- Covering, partial: orders and filters of the event list.
CREATE INDEX "events_by_time" ON "events" ("timestamp", "id") INCLUDE ("site_id", "status", "severity", "source");
CREATE INDEX "events_live_device" ON "events" ("device_id", "case_id", "severity") WHERE "status" < 2;
CREATE INDEX "events_closed_device" ON "events" ("device_id", "timestamp") WHERE "status" = 2 AND "case_id" IS NOT NULL;
CREATE INDEX "events_live_site" ON "events" ("site_id", "severity", "status") WHERE "status" < 2;
CREATE INDEX "events_by_case" ON "events" ("case_id", "timestamp", "id") INCLUDE ("status", "severity") WHERE "case_id" IS NOT NULL;
CREATE INDEX "events_live_of_case" ON "events" ("case_id", "severity") WHERE "status" < 2 AND "case_id" IS NOT NULL;
-- Partial: what waits for a case, for the end of maintenance, or for something to get worse is little among many events.
CREATE INDEX "events_without_case" ON "events" ("device_id", "kind") WHERE "status" < 2 AND "case_id" IS NULL;
CREATE INDEX "events_suppressed" ON "events" ("site_id", ("details" ->> 'rootDeviceId')) WHERE "status" < 2 AND "case_id" IS NULL AND "kind" = 'device.unreachable';
CREATE INDEX "events_in_maintenance" ON "events" ("maintenance_until", "site_id") WHERE "maintenance_until" IS NOT NULL AND "status" < 2 AND "case_id" IS NULL;
CREATE INDEX "events_until_worse" ON "events" ("site_id", "device_id") WHERE "status" = 1 AND "acknowledged_until" = 'worse';
-- Partial: a notice that was closed when it was made counts up when it happens again, and is few among many events.
CREATE INDEX "events_noted" ON "events" ("site_id", "dedup_key", "timestamp") WHERE "close_reason" = 'noted';
-- Partial, on an expression: what `GET /api/availability` reads of a period. Most events are of other kinds.
CREATE INDEX "events_outages" ON "events" ("site_id", (COALESCE("closed_at", 'infinity')))
  WHERE "kind" IN ('device.down', 'device.unreachable', 'interface.down', 'flapping', 'snmp.unreachable', 'snmp.auth-failed');
-- Partial: what `GET /api/changes` reads (CHANGE_KINDS in the shared package). Most events are of trouble, not of changes.
CREATE INDEX "events_changes" ON "events" ("timestamp", "id") INCLUDE ("site_id")
  WHERE "kind" IN ('device.new', 'device.gone', 'device.renumbered', 'device.moved', 'device.swapped', 'device.upgraded', 'device.changed', 'device.addresses', 'device.hardware', 'device.vlans', 'device.merged', 'device.split', 'device.rebooted', 'interface.added', 'interface.removed', 'interface.changed', 'interface.shut', 'interface.speed', 'interface.duplex', 'neighbour.changed', 'address.moved', 'address.conflict');

CREATE TABLE "event_charts" (
    "site_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "data" JSONB,
    CONSTRAINT "event_charts_pkey" PRIMARY KEY ("site_id", "event_id"),
    CONSTRAINT "event_charts_site_id_event_id_fkey" FOREIGN KEY ("site_id", "event_id") REFERENCES "events" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
-- Partial: what is to be kept is little among what is.
CREATE INDEX "event_charts_due" ON "event_charts" ("due_at") WHERE "due_at" IS NOT NULL;

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
CREATE INDEX "conditions_device" ON "conditions" ("device_id");
-- Partial.
CREATE INDEX "conditions_due" ON "conditions" ("due_at", "site_id") WHERE "due_at" IS NOT NULL;
CREATE INDEX "conditions_present" ON "conditions" ("site_id", "kind") WHERE "present";

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
-- Partial, NULLS NOT DISTINCT, covering: as those of device_tally.
CREATE UNIQUE INDEX "event_tally_settled" ON "event_tally" ("site_id", "bucket", "status", "severity", "source") NULLS NOT DISTINCT WHERE "settled";
CREATE INDEX "event_tally_read" ON "event_tally" ("site_id", "bucket") INCLUDE ("status", "severity", "source", "n");
CREATE INDEX "event_tally_new" ON "event_tally" ("id") WHERE NOT "settled";

-- Triggers, as those of device_tally. Events are counted twice: per site by the day, and (site null) of all sites together
-- by the hour. A deep page finds its place by adding buckets up instead of walking over the events before it. Buckets are
-- UTC whatever the session says.
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

CREATE TABLE "cases" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "number" SERIAL NOT NULL,
    "title" TEXT NOT NULL,
    "title_by_hand" BOOLEAN NOT NULL DEFAULT false,
    "description" TEXT NOT NULL DEFAULT '',
    "status" INTEGER NOT NULL DEFAULT 0,
    "severity" INTEGER NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 3,
    "assignee_id" UUID,
    "tags" TEXT[],
    "root_device_id" UUID,
    "manual_status" BOOLEAN NOT NULL DEFAULT false,
    "told" BOOLEAN NOT NULL DEFAULT false,
    "begun_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "search_text" TEXT NOT NULL DEFAULT '',
    CONSTRAINT "cases_pkey" PRIMARY KEY ("site_id", "id"),
    CONSTRAINT "cases_status" CHECK ("status" BETWEEN 0 AND 3),
    CONSTRAINT "cases_priority" CHECK ("priority" BETWEEN 1 AND 4)
);
CREATE UNIQUE INDEX "cases_number_key" ON "cases" ("number");
CREATE INDEX "cases_site_id_updated_at_id_idx" ON "cases" ("site_id", "updated_at", "id");
CREATE UNIQUE INDEX "cases_id_key" ON "cases" ("id");
CREATE INDEX "cases_by_created" ON "cases" ("created_at", "id");
CREATE INDEX "cases_by_status" ON "cases" ("status", "updated_at", "id");
CREATE INDEX "cases_by_severity" ON "cases" ("severity", "updated_at", "id");
CREATE INDEX "cases_by_priority" ON "cases" ("priority", "updated_at", "id");
CREATE INDEX "cases_by_assignee" ON "cases" ("assignee_id", "updated_at", "id");
-- Covering, partial: orders and filters of the case list.
CREATE INDEX "cases_by_updated" ON "cases" ("updated_at", "id") INCLUDE ("site_id", "status", "severity", "priority");
CREATE INDEX "cases_by_root" ON "cases" ("root_device_id") WHERE "status" < 3;
-- Trigrams: substring search. GIN on an expression: tags whatever their case.
CREATE INDEX "cases_search_text_trgm" ON "cases" USING gin ("search_text" gin_trgm_ops);
CREATE INDEX "cases_tags" ON "cases" USING gin (lower_all("tags"));

CREATE TABLE "case_activity" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "case_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor" TEXT NOT NULL,
    "actor_id" UUID,
    "kind" TEXT NOT NULL,
    "text" TEXT NOT NULL DEFAULT '',
    "from" TEXT,
    "to" TEXT,
    CONSTRAINT "case_activity_pkey" PRIMARY KEY ("site_id", "id")
);
CREATE INDEX "case_activity_site_id_case_id_at_idx" ON "case_activity" ("site_id", "case_id", "at");

CREATE TABLE "maintenance_windows" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "note" TEXT NOT NULL DEFAULT '',
    "scope" JSONB NOT NULL DEFAULT '{}',
    "timezone" TEXT NOT NULL,
    "times" JSONB NOT NULL,
    "over_at" TIMESTAMPTZ(3),
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_by" TEXT NOT NULL DEFAULT '',
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "maintenance_windows_pkey" PRIMARY KEY ("site_id", "id"),
    CONSTRAINT "maintenance_windows_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "maintenance_windows_id_key" ON "maintenance_windows" ("id");

CREATE TABLE "monitoring_history" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    CONSTRAINT "monitoring_history_pkey" PRIMARY KEY ("site_id", "device_id", "since"),
    CONSTRAINT "monitoring_history_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "monitoring_history_until_idx" ON "monitoring_history" ("until");

CREATE TABLE "backlog_history" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "backlog_history_pkey" PRIMARY KEY ("site_id", "device_id", "since"),
    CONSTRAINT "backlog_history_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "backlog_history_until_idx" ON "backlog_history" ("until");

CREATE TABLE "merged_devices" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "into_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "merged_devices_pkey" PRIMARY KEY ("id", "site_id"),
    CONSTRAINT "merged_devices_site_id_into_id_fkey" FOREIGN KEY ("site_id", "into_id") REFERENCES "devices" ("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "merged_devices_site_id_into_id_idx" ON "merged_devices" ("site_id", "into_id");
CREATE INDEX "merged_devices_at_idx" ON "merged_devices" ("at");

-- Triggers: each history is written in the transaction that changes what it tells. now() is one time per transaction: what
-- goes and comes back within it is one row.
CREATE FUNCTION monitoring_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.monitor THEN
    INSERT INTO monitoring_history (site_id, device_id, since) VALUES (NEW.site_id, NEW.id, now())
    ON CONFLICT (site_id, device_id, since) DO UPDATE SET until = NULL;
  ELSE
    UPDATE monitoring_history SET until = now()
    WHERE site_id = NEW.site_id AND device_id = NEW.id AND until IS NULL;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "devices_monitoring_insert" AFTER INSERT ON "devices" FOR EACH ROW
  WHEN (NEW.monitor) EXECUTE FUNCTION monitoring_history();
CREATE TRIGGER "devices_monitoring_update" AFTER UPDATE OF "monitor" ON "devices" FOR EACH ROW
  WHEN (OLD.monitor <> NEW.monitor) EXECUTE FUNCTION monitoring_history();

CREATE TABLE "connection_history" (
    "site_id" UUID NOT NULL,
    "collector_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    CONSTRAINT "connection_history_pkey" PRIMARY KEY ("site_id", "collector_id", "since"),
    CONSTRAINT "connection_history_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "connection_history_until_idx" ON "connection_history" ("until");

-- Triggers, as those of monitoring_history. Connected: active, with a time since when. It ends when the collector was heard
-- last, as far as the server learns it only afterwards: it stayed away, or came back after a while without being missed (the
-- server was away).
CREATE FUNCTION connection_history() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;
CREATE TRIGGER "collectors_connection_insert" AFTER INSERT ON "collectors" FOR EACH ROW
  WHEN (NEW.connected_at IS NOT NULL) EXECUTE FUNCTION connection_history();
CREATE TRIGGER "collectors_connection_update" AFTER UPDATE OF "connected_at", "status" ON "collectors" FOR EACH ROW
  WHEN (OLD.connected_at IS DISTINCT FROM NEW.connected_at OR OLD.status <> NEW.status)
  EXECUTE FUNCTION connection_history();
CREATE TRIGGER "collectors_connection_delete" AFTER DELETE ON "collectors" FOR EACH ROW
  WHEN (OLD.connected_at IS NOT NULL) EXECUTE FUNCTION connection_history();

CREATE TABLE "maintenance_history" (
    "site_id" UUID NOT NULL,
    "window_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    "scope" JSONB NOT NULL,
    "timezone" TEXT NOT NULL,
    "times" JSONB NOT NULL,
    CONSTRAINT "maintenance_history_pkey" PRIMARY KEY ("site_id", "window_id", "since"),
    CONSTRAINT "maintenance_history_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "maintenance_history_until_idx" ON "maintenance_history" ("until");

-- Triggers, as those of monitoring_history.
CREATE FUNCTION maintenance_history() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;
CREATE TRIGGER "maintenance_history_insert" AFTER INSERT OR DELETE ON "maintenance_windows" FOR EACH ROW
  EXECUTE FUNCTION maintenance_history();
CREATE TRIGGER "maintenance_history_update" AFTER UPDATE OF "enabled", "scope", "timezone", "times" ON "maintenance_windows"
  FOR EACH ROW WHEN ((OLD.enabled, OLD.scope, OLD.timezone, OLD.times) IS DISTINCT FROM (NEW.enabled, NEW.scope, NEW.timezone, NEW.times))
  EXECUTE FUNCTION maintenance_history();

-- ── Deliveries ───────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE "case_outbox" (
    "id" BIGSERIAL NOT NULL,
    "site_id" UUID NOT NULL,
    "case_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "case_outbox_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "subscriptions" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "url" TEXT,
    "format" TEXT,
    "template" TEXT,
    "channel" TEXT,
    "headers" JSONB NOT NULL DEFAULT '[]',
    "facility" INTEGER,
    "app_name" TEXT,
    "authority" TEXT,
    "acknowledge" BOOLEAN NOT NULL DEFAULT true,
    "link_version" INTEGER NOT NULL DEFAULT 0,
    "addresses" TEXT[],
    "types" TEXT[],
    "severity" INTEGER NOT NULL DEFAULT 5,
    "all_sites" BOOLEAN NOT NULL DEFAULT true,
    "site_ids" UUID[],
    "tags" TEXT[] NOT NULL DEFAULT '{}',
    "fields" TEXT[] NOT NULL DEFAULT '{}',
    "classes" TEXT[] NOT NULL DEFAULT '{}',
    "event_kinds" TEXT[] NOT NULL DEFAULT '{}',
    "hours" JSONB,
    "allow_private" BOOLEAN NOT NULL DEFAULT false,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT NOT NULL DEFAULT '',
    "sealed" BYTEA,
    "key_id" TEXT,
    "failing_since" TIMESTAMPTZ(3),
    "last_delivered_at" TIMESTAMPTZ(3),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id")
);
-- As of credentials.
CREATE UNIQUE INDEX "subscriptions_name_by_sites" ON "subscriptions" ("name", "all_sites", hash_array_extended("site_ids", 0));

CREATE TABLE "deliveries" (
    "id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "subscription_id" UUID NOT NULL,
    "site_id" UUID,
    "case_id" UUID,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3),
    "claimed_until" TIMESTAMPTZ(3),
    "begun_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "response_status" INTEGER,
    "error" TEXT NOT NULL DEFAULT '',
    "log" JSONB NOT NULL DEFAULT '[]',
    "recipients" JSONB NOT NULL DEFAULT '[]',
    "thread" TEXT,
    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "deliveries_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "deliveries_created_at_position_idx" ON "deliveries" ("created_at", "position");
-- Who was told of a case.
CREATE INDEX "deliveries_case_id_subscription_id_idx" ON "deliveries" ("case_id", "subscription_id");
-- Partial: what is still to be sent.
CREATE INDEX "deliveries_due" ON "deliveries" ("subscription_id", "next_at") WHERE "status" = 'queued';
-- The message that later ones of a case answer.
CREATE INDEX "deliveries_thread" ON "deliveries" ("subscription_id", "case_id", "position") WHERE "thread" IS NOT NULL;
CREATE INDEX "deliveries_of_case" ON "deliveries" ("subscription_id", "case_id", "position") WHERE "status" = 'queued';

CREATE TABLE "mail_settings" (
    "one" BOOLEAN NOT NULL DEFAULT true,
    "host" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "security" TEXT NOT NULL,
    "user" TEXT NOT NULL DEFAULT '',
    "sender" TEXT NOT NULL,
    "sealed" BYTEA,
    "key_id" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "mail_settings_pkey" PRIMARY KEY ("one"),
    CONSTRAINT "mail_settings_one" CHECK ("one")
);
