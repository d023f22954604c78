-- Additive: servers before it do not ask for a second factor; upgrade all of them before people set one up.
CREATE TABLE "second_factors" (
    "user_id" UUID NOT NULL,
    "sealed" BYTEA NOT NULL,
    "key_id" TEXT NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "used_step" INTEGER NOT NULL DEFAULT 0,
    "recovery" BYTEA[] NOT NULL DEFAULT ARRAY[]::BYTEA[],

    CONSTRAINT "second_factors_pkey" PRIMARY KEY ("user_id"),
    CONSTRAINT "second_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
