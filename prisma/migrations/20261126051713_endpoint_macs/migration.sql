-- CreateTable
CREATE TABLE "endpoint_macs" (
    "site_id" UUID NOT NULL,
    "mac" TEXT NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "gone_at" TIMESTAMPTZ(3),

    CONSTRAINT "endpoint_macs_pkey" PRIMARY KEY ("site_id","mac")
);

-- CreateIndex
CREATE INDEX "endpoint_macs_mac_site_id_idx" ON "endpoint_macs"("mac", "site_id");

-- CreateIndex
CREATE INDEX "endpoint_macs_first_seen_mac_site_id_idx" ON "endpoint_macs"("first_seen", "mac", "site_id");

-- CreateIndex
CREATE INDEX "endpoint_macs_gone_at_mac_site_id_idx" ON "endpoint_macs"("gone_at", "mac", "site_id");

-- AddForeignKey
ALTER TABLE "endpoint_macs" ADD CONSTRAINT "endpoint_macs_site_id_fkey" FOREIGN KEY ("site_id") REFERENCES "sites"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- GIN over an expression: a part of an address, whatever its notation.
CREATE INDEX "endpoint_macs_digits_trgm" ON "endpoint_macs" USING gin (replace("mac", ':', '') gin_trgm_ops);
-- On an expression: the addresses of a maker, by the prefix of 24 bits.
CREATE INDEX "endpoint_macs_prefix" ON "endpoint_macs" (left("mac", 8), "site_id");
-- Partial: what a port has in its forwarding table now, from the index alone.
CREATE INDEX "endpoints_open" ON "endpoints" ("site_id", "device_id", "if_index", "mac") WHERE "until" IS NULL AND "address" = '';
-- Partial, text_pattern_ops: an IP address or its beginning.
CREATE INDEX "endpoints_address" ON "endpoints" ("address" text_pattern_ops, "site_id", "mac") WHERE "address" <> '';
-- Partial: most entries of ARP tables tell no VLAN.
CREATE INDEX "endpoints_vlan" ON "endpoints" ("vlan", "site_id", "mac") WHERE "vlan" > 0;

-- Triggers: the list is right in the transaction that changes an interval, whoever changes it. In the order of the key, so that two
-- writers of one site wait for each other and never in a circle.
CREATE FUNCTION endpoint_macs_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "endpoint_macs" AS m ("site_id", "mac", "first_seen", "gone_at")
    SELECT t."site_id", t."mac", e.first_seen, e.gone_at
    FROM (SELECT DISTINCT "site_id", "mac" FROM added) t
    CROSS JOIN LATERAL (SELECT min(e."since") AS first_seen, CASE WHEN bool_and(e."until" IS NOT NULL) THEN max(e."until") END AS gone_at
        FROM "endpoints" e WHERE e."site_id" = t."site_id" AND e."mac" = t."mac") e
    ORDER BY t."site_id", t."mac"
    ON CONFLICT ("site_id", "mac") DO UPDATE
    SET "first_seen" = least(m."first_seen", EXCLUDED."first_seen"), "gone_at" = EXCLUDED."gone_at"
    WHERE m."first_seen" > EXCLUDED."first_seen" OR m."gone_at" IS DISTINCT FROM EXCLUDED."gone_at";
    RETURN NULL;
END $$;
CREATE TRIGGER "endpoints_macs_insert" AFTER INSERT ON "endpoints" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION endpoint_macs_told();
CREATE TRIGGER "endpoints_macs_update" AFTER UPDATE ON "endpoints" REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION endpoint_macs_told();

-- For each row: deletes that come along a foreign key of a partitioned table fire no trigger of statements.
CREATE FUNCTION endpoint_macs_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "endpoint_macs" m SET "gone_at" = e.gone_at
    FROM (SELECT count(*) AS n, CASE WHEN bool_and(e."until" IS NOT NULL) THEN max(e."until") END AS gone_at
        FROM "endpoints" e WHERE e."site_id" = OLD."site_id" AND e."mac" = OLD."mac") e
    WHERE m."site_id" = OLD."site_id" AND m."mac" = OLD."mac" AND e.n > 0 AND m."gone_at" IS DISTINCT FROM e.gone_at;
    DELETE FROM "endpoint_macs" m WHERE m."site_id" = OLD."site_id" AND m."mac" = OLD."mac"
        AND NOT EXISTS (SELECT 1 FROM "endpoints" e WHERE e."site_id" = OLD."site_id" AND e."mac" = OLD."mac");
    RETURN NULL;
END $$;
CREATE TRIGGER "endpoints_macs_delete" AFTER DELETE ON "endpoints" FOR EACH ROW EXECUTE FUNCTION endpoint_macs_forgotten();

-- What is stored already.
INSERT INTO "endpoint_macs" ("site_id", "mac", "first_seen", "gone_at")
SELECT "site_id", "mac", min("since"), CASE WHEN bool_and("until" IS NOT NULL) THEN max("until") END FROM "endpoints" GROUP BY 1, 2;
