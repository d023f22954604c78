-- Additive: servers before it write tokens without networks; they do not enforce those that a token has.
ALTER TABLE "api_tokens" ADD COLUMN     "networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
