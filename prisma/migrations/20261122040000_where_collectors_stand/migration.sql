-- Where collectors stand, as they tell it: what is reached through which router is told from there. Null: not told.
ALTER TABLE "collectors" ADD COLUMN "addresses" INET[];
