-- First schema. Drafted from prisma/schema.prisma (scripts/migration-draft.mjs); the last part is what Prisma cannot say.


-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "display_name" TEXT NOT NULL DEFAULT '',
    "password_hash" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "all_sites" BOOLEAN NOT NULL DEFAULT false,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_login_at" TIMESTAMPTZ(3),
    "settings" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_sites" (
    "user_id" UUID NOT NULL,
    "site_id" UUID NOT NULL,

    CONSTRAINT "user_sites_pkey" PRIMARY KEY ("user_id","site_id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id_hash" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "user_agent" TEXT NOT NULL DEFAULT '',
    "address" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id_hash")
);

-- CreateTable
CREATE TABLE "api_tokens" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "hint" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "sites" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "networks" TEXT[],
    "allow_loopback" BOOLEAN NOT NULL DEFAULT false,
    "exclude" TEXT[],
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sites_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "collectors_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "join_tokens" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "collector_id" UUID,

    CONSTRAINT "join_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "profiles" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "settings" JSONB NOT NULL,
    "built_in" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "profiles_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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
    "devices_new" INTEGER NOT NULL DEFAULT 0,
    "devices_changed" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "scans_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "collector_streams" (
    "collector_id" UUID NOT NULL,
    "epoch" UUID NOT NULL,
    "stream" TEXT NOT NULL,
    "through" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "collector_streams_pkey" PRIMARY KEY ("collector_id","epoch","stream")
);

-- CreateTable
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

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("site_id","collector_id","epoch","stream","seq")
);

-- CreateTable
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

    CONSTRAINT "gaps_pkey" PRIMARY KEY ("site_id","collector_id","epoch","stream","from_seq")
);

-- CreateTable
CREATE TABLE "devices" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "collector_id" UUID,
    "last_scan_id" UUID,
    "name" TEXT NOT NULL,
    "name_override" TEXT,
    "address" INET,
    "mac_address" TEXT,
    "class" TEXT NOT NULL DEFAULT 'unknown',
    "class_override" TEXT,
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
    "rtt_ms" DOUBLE PRECISION,
    "credential_id" UUID,
    "snmp_version" TEXT,
    "interface_count" INTEGER NOT NULL DEFAULT 0,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "missed_scans" INTEGER NOT NULL DEFAULT 0,
    "gone_at" TIMESTAMPTZ(3),
    "walk" UUID,
    "search_text" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "devices_pkey" PRIMARY KEY ("site_id","id")
);

-- CreateTable
CREATE TABLE "evidence" (
    "site_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "device_id" UUID NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "evidence_pkey" PRIMARY KEY ("site_id","kind","value")
);

-- CreateTable
CREATE TABLE "identity_decisions" (
    "id" UUID NOT NULL,
    "site_id" UUID NOT NULL,
    "verb" TEXT NOT NULL,
    "device_id" UUID NOT NULL,
    "other_id" UUID NOT NULL,
    "evidence" JSONB NOT NULL DEFAULT '[]',
    "user_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "undone_at" TIMESTAMPTZ(3),

    CONSTRAINT "identity_decisions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "device_addresses" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "address" INET NOT NULL,
    "prefix_length" INTEGER,
    "if_index" INTEGER,
    "origin" TEXT NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "device_addresses_pkey" PRIMARY KEY ("site_id","device_id","address")
);

-- CreateTable
CREATE TABLE "interfaces" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "if_index" INTEGER NOT NULL,
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
    "vlan" INTEGER,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    "gone_at" TIMESTAMPTZ(3),

    CONSTRAINT "interfaces_pkey" PRIMARY KEY ("site_id","id")
);

-- CreateTable
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

    CONSTRAINT "entities_pkey" PRIMARY KEY ("site_id","device_id","index")
);

-- CreateTable
CREATE TABLE "neighbours" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "protocol" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "if_index" INTEGER,
    "local_port" TEXT,
    "chassis_id" TEXT,
    "port_id" TEXT,
    "port_description" TEXT,
    "sys_name" TEXT,
    "sys_descr" TEXT,
    "platform" TEXT,
    "addresses" INET[],
    "remote_device_id" UUID,
    "remote_if_index" INTEGER,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "neighbours_pkey" PRIMARY KEY ("site_id","device_id","protocol","key")
);

-- CreateTable
CREATE TABLE "device_facts" (
    "site_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "group" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "hash" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "complete" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "device_facts_pkey" PRIMARY KEY ("site_id","device_id","group")
);

-- CreateTable
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
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,
    "close_reason" TEXT,

    CONSTRAINT "events_pkey" PRIMARY KEY ("site_id","id")
);

-- CreateTable
CREATE TABLE "cases" (
    "site_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "number" SERIAL NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "status" INTEGER NOT NULL DEFAULT 0,
    "severity" INTEGER NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 3,
    "assignee_id" UUID,
    "tags" TEXT[],
    "root_device_id" UUID,
    "manual_status" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "search_text" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "cases_pkey" PRIMARY KEY ("site_id","id")
);

-- CreateTable
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

    CONSTRAINT "case_activity_pkey" PRIMARY KEY ("site_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_name_key" ON "users"("name");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_id_key" ON "sessions"("id");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_tokens_hash_key" ON "api_tokens"("hash");

-- CreateIndex
CREATE INDEX "api_tokens_user_id_idx" ON "api_tokens"("user_id");

-- CreateIndex
CREATE INDEX "audit_at_idx" ON "audit"("at");

-- CreateIndex
CREATE UNIQUE INDEX "sites_name_key" ON "sites"("name");

-- CreateIndex
CREATE UNIQUE INDEX "collectors_site_id_name_key" ON "collectors"("site_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "join_tokens_hash_key" ON "join_tokens"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "credentials_name_key" ON "credentials"("name");

-- CreateIndex
CREATE UNIQUE INDEX "profiles_name_key" ON "profiles"("name");

-- CreateIndex
CREATE UNIQUE INDEX "schedules_site_id_name_key" ON "schedules"("site_id", "name");

-- CreateIndex
CREATE INDEX "scans_site_id_created_at_idx" ON "scans"("site_id", "created_at");

-- CreateIndex
CREATE INDEX "jobs_site_id_status_idx" ON "jobs"("site_id", "status");

-- CreateIndex
CREATE UNIQUE INDEX "jobs_scan_id_position_key" ON "jobs"("scan_id", "position");

-- CreateIndex
CREATE INDEX "devices_site_id_name_id_idx" ON "devices"("site_id", "name", "id");

-- CreateIndex
CREATE UNIQUE INDEX "devices_id_key" ON "devices"("id");

-- CreateIndex
CREATE INDEX "evidence_site_id_device_id_idx" ON "evidence"("site_id", "device_id");

-- CreateIndex
CREATE INDEX "identity_decisions_site_id_device_id_idx" ON "identity_decisions"("site_id", "device_id");

-- CreateIndex
CREATE INDEX "device_addresses_site_id_address_idx" ON "device_addresses"("site_id", "address");

-- CreateIndex
CREATE UNIQUE INDEX "interfaces_site_id_device_id_if_index_key" ON "interfaces"("site_id", "device_id", "if_index");

-- CreateIndex
CREATE INDEX "events_site_id_timestamp_id_idx" ON "events"("site_id", "timestamp", "id");

-- CreateIndex
CREATE INDEX "events_site_id_device_id_timestamp_idx" ON "events"("site_id", "device_id", "timestamp");

-- CreateIndex
CREATE UNIQUE INDEX "events_id_key" ON "events"("id");

-- CreateIndex
CREATE UNIQUE INDEX "cases_number_key" ON "cases"("number");

-- CreateIndex
CREATE INDEX "cases_site_id_updated_at_id_idx" ON "cases"("site_id", "updated_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "cases_id_key" ON "cases"("id");

-- CreateIndex
CREATE INDEX "case_activity_site_id_case_id_at_idx" ON "case_activity"("site_id", "case_id", "at");

-- AddForeignKey
ALTER TABLE "user_sites" ADD CONSTRAINT "user_sites_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_sites" ADD CONSTRAINT "user_sites_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "collectors" ADD CONSTRAINT "collectors_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "join_tokens" ADD CONSTRAINT "join_tokens_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "scans" ADD CONSTRAINT "scans_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_scan_id_fkey" FOREIGN KEY ("scan_id") REFERENCES "scans"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "collector_streams" ADD CONSTRAINT "collector_streams_collector_id_fkey" FOREIGN KEY ("collector_id") REFERENCES "collectors"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "devices" ADD CONSTRAINT "devices_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "device_addresses" ADD CONSTRAINT "device_addresses_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "interfaces" ADD CONSTRAINT "interfaces_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entities" ADD CONSTRAINT "entities_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "neighbours" ADD CONSTRAINT "neighbours_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "device_facts" ADD CONSTRAINT "device_facts_site_id_device_id_fkey" FOREIGN KEY ("site_id", "device_id") REFERENCES "devices"("site_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;


-- ── What Prisma cannot express ─────────────────────────────────────────────────────────────────────────────────

-- Substring search over devices and cases.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX "devices_search_text_trgm" ON "devices" USING gin ("search_text" gin_trgm_ops);
CREATE INDEX "cases_search_text_trgm" ON "cases" USING gin ("search_text" gin_trgm_ops);

-- "Which devices have an address in this CIDR?"
CREATE INDEX "device_addresses_address_gist" ON "device_addresses" USING gist ("address" inet_ops);

-- One live event per key: the next occurrence counts up instead of piling up.
CREATE UNIQUE INDEX "events_live_key" ON "events" ("site_id", "dedup_key") WHERE "status" < 2;
CREATE INDEX "events_case" ON "events" ("case_id") WHERE "case_id" IS NOT NULL;

-- The queue: what may be offered, and what may have lost its holder.
CREATE INDEX "jobs_claimable" ON "jobs" ("site_id", "scan_id", "position") WHERE "status" IN ('queued', 'deferred');
CREATE INDEX "jobs_leased" ON "jobs" ("lease_expires_at") WHERE "status" = 'leased';

-- The same key by the same caller is the same scan.
CREATE UNIQUE INDEX "scans_idempotency" ON "scans" ("created_by", "idempotency_key") WHERE "idempotency_key" IS NOT NULL;

-- Closed lists; the words are in packages/shared/src/model.ts.
ALTER TABLE "users" ADD CONSTRAINT "users_role" CHECK ("role" IN ('viewer', 'operator', 'admin'));
ALTER TABLE "collectors" ADD CONSTRAINT "collectors_status" CHECK ("status" IN ('active', 'quarantined', 'revoked'));
ALTER TABLE "scans" ADD CONSTRAINT "scans_status" CHECK ("status" IN ('queued', 'running', 'completed', 'partial', 'failed', 'cancelled'));
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_status" CHECK ("status" IN ('queued', 'leased', 'done', 'deferred', 'failed', 'cancelled'));
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_outcomes" CHECK ("outcomes" = '' OR length("outcomes") = "size");
ALTER TABLE "devices" ADD CONSTRAINT "devices_status" CHECK ("status" IN ('up', 'down', 'unknown'));
ALTER TABLE "collector_streams" ADD CONSTRAINT "collector_streams_stream" CHECK ("stream" IN ('state', 'event'));
ALTER TABLE "events" ADD CONSTRAINT "events_severity" CHECK ("severity" BETWEEN 1 AND 5);
ALTER TABLE "events" ADD CONSTRAINT "events_status" CHECK ("status" BETWEEN 0 AND 2);
ALTER TABLE "cases" ADD CONSTRAINT "cases_status" CHECK ("status" BETWEEN 0 AND 3);
ALTER TABLE "cases" ADD CONSTRAINT "cases_priority" CHECK ("priority" BETWEEN 1 AND 4);
