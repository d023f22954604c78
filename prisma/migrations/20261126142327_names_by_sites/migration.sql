-- Additive: what was unique stays so in a wider sense; servers of the version before only allow less.
-- Names of credentials and subscriptions are unique among those of the same sites: unique among all, whoever makes one
-- would learn which names stand at sites that they do not see.
DROP INDEX "credentials_name_key";
DROP INDEX "subscriptions_name_key";
CREATE UNIQUE INDEX "credentials_name_all_sites_site_ids_key" ON "credentials" ("name", "all_sites", "site_ids");
CREATE UNIQUE INDEX "subscriptions_name_all_sites_site_ids_key" ON "subscriptions" ("name", "all_sites", "site_ids");
