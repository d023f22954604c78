-- Unfinished scans are few among many finished ones, and are asked for at every claim.
CREATE INDEX "scans_open" ON "scans" ("site_id") WHERE "status" IN ('queued', 'running');
-- "Which leases does this collector hold?", at every heartbeat of its link.
CREATE INDEX "jobs_held" ON "jobs" ("collector_id") WHERE "status" = 'leased';
