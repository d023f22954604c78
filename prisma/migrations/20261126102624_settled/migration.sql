-- Until when what a collector reported silent is settled, and the time of the last observation of its stream.
ALTER TABLE "collector_streams" ADD COLUMN     "latest_at" TIMESTAMPTZ(3),
ADD COLUMN     "settled_until" TIMESTAMPTZ(3);
