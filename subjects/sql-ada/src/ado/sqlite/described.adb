--  SQLite

with ADO.Sqlite;
with Laboratory; use Laboratory;

package body Described is

   procedure Register renames ADO.Sqlite.Initialize;

   --  Each parameter but this one would be a pragma of every connection
   function Address return String is ("sqlite:" & Told ("FILE") & "?create=on");

end Described;
