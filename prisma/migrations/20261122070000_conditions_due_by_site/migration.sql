-- What is due at a site, off this index alone: without the site in it PostgreSQL read all conditions of the site beside it,
-- ten times a second while a storm lasts.
DROP INDEX "conditions_due";
CREATE INDEX "conditions_due" ON "conditions" ("due_at", "site_id") WHERE "due_at" IS NOT NULL;
