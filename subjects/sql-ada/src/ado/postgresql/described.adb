--  PostgreSQL

with ADO.Postgresql;
with Laboratory; use Laboratory;

package body Described is

   procedure Register renames ADO.Postgresql.Initialize;

   --  As libpq reads it
   function Address return String is
     ("postgresql://" & Told ("HOST") & ":" & Told ("PORT") & "/" & Told ("NAME")
      & "?user=" & Told ("USER") & "&password=" & Told ("PASSWORD") & "&sslmode=disable");

end Described;
