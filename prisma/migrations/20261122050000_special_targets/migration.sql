-- Scans of a site may name multicast, link-local, broadcast and 0.0.0.0/8 where its administrator says so.
ALTER TABLE "sites" ADD COLUMN "allow_special" BOOLEAN NOT NULL DEFAULT false;
