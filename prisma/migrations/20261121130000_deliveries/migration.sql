-- Who is told about cases, and what became of it.

ALTER TABLE "cases" ADD COLUMN "told" BOOLEAN NOT NULL DEFAULT true;
-- Cases that are there already were not opened just now.
ALTER TABLE "cases" ALTER COLUMN "told" SET DEFAULT false;

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
    "addresses" TEXT[],
    "types" TEXT[],
    "severity" INTEGER NOT NULL DEFAULT 5,
    "all_sites" BOOLEAN NOT NULL DEFAULT true,
    "site_ids" UUID[],
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
CREATE UNIQUE INDEX "subscriptions_name_key" ON "subscriptions" ("name");

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

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX "deliveries_due" ON "deliveries" ("subscription_id", "next_at") WHERE "status" = 'queued';
CREATE INDEX "deliveries_of_case" ON "deliveries" ("subscription_id", "case_id", "position") WHERE "status" = 'queued';
CREATE INDEX "deliveries_created_at_id_idx" ON "deliveries" ("created_at", "id");

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
