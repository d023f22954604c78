-- AlterTable
ALTER TABLE "jobs" ADD COLUMN     "holders" JSONB NOT NULL DEFAULT '{}';
