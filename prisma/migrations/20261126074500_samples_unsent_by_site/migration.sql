-- Partial: what waits for the engine, the oldest of a site first; nothing where there is none. Sites take turns.
CREATE INDEX "samples_unsent_by_site" ON "samples" ("site_id", "at") WHERE "unsent";
DROP INDEX "samples_unsent";
-- Partial: what the engine has, to be deleted, without walking over what waits.
CREATE INDEX "samples_sent" ON "samples" ("at") WHERE NOT "unsent";
