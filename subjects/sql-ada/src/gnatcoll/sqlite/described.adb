--  SQLite

with GNATCOLL.SQL.Sqlite;
with Laboratory; use Laboratory;

package body Described is

   Its_Description : Database_Description;

   function Description return Database_Description is
   begin
      if Its_Description = null then
         GNATCOLL.SQL.Sqlite.Max_Ms_On_Busy := 10_000;
         Its_Description := GNATCOLL.SQL.Sqlite.Setup (Told ("FILE"));
      end if;
      return Its_Description;
   end Description;

end Described;
