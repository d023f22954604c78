-- GIN, partial: the search for interfaces by what people wrote on them.
CREATE INDEX "interfaces_alias_trgm" ON "interfaces" USING gin (lower("alias") gin_trgm_ops) WHERE "alias" <> '';
-- Partial: an interface by its hardware address.
CREATE INDEX "interfaces_by_mac" ON "interfaces" ("mac_address", "site_id") WHERE "mac_address" IS NOT NULL;
