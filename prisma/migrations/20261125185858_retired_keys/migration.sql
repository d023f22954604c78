-- CreateTable
CREATE TABLE "retired_keys" (
    "collector_id" UUID NOT NULL,
    "public_key" BYTEA NOT NULL,
    "retired_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "retired_keys_pkey" PRIMARY KEY ("collector_id","public_key")
);

-- AddForeignKey
ALTER TABLE "retired_keys" ADD CONSTRAINT "retired_keys_collector_id_fkey" FOREIGN KEY ("collector_id") REFERENCES "collectors"("id") ON DELETE CASCADE ON UPDATE CASCADE;
