-- AlterTable
ALTER TABLE "api_tokens" ADD COLUMN     "read_only" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "site_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];
