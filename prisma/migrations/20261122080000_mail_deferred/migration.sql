-- Whom a mail server deferred while others of the same mail were served: they alone are tried again.
ALTER TABLE "deliveries" ADD COLUMN "deferred" TEXT[];
