-- Deep pages of every order whose columns seldom change begin at places whose numbers are remembered at a revision: what
-- such an order is by counts as well.
DROP TRIGGER "devices_revised_update" ON "devices";
CREATE TRIGGER "devices_revised_update" AFTER UPDATE ON "devices" FOR EACH ROW
    WHEN (OLD."search_text" IS DISTINCT FROM NEW."search_text" OR OLD."name" IS DISTINCT FROM NEW."name"
        OR OLD."class" IS DISTINCT FROM NEW."class" OR OLD."vendor" IS DISTINCT FROM NEW."vendor"
        OR OLD."model" IS DISTINCT FROM NEW."model" OR OLD."address" IS DISTINCT FROM NEW."address"
        OR OLD."first_seen" IS DISTINCT FROM NEW."first_seen")
    EXECUTE FUNCTION device_revised();
