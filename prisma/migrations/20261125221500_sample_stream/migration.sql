-- By hand: Prisma cannot express checks.
ALTER TABLE "collector_streams" DROP CONSTRAINT "collector_streams_stream";
ALTER TABLE "collector_streams" ADD CONSTRAINT "collector_streams_stream" CHECK ("stream" IN ('state', 'event', 'sample'));
