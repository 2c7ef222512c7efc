--  MariaDB

with ADO.Mysql;
with Laboratory; use Laboratory;

package body Described is

   procedure Register renames ADO.Mysql.Initialize;

   --  Each further parameter would be a setting that is sent with every connection
   function Address return String is
     ("mysql://" & Told ("HOST") & ":" & Told ("PORT") & "/" & Told ("NAME")
      & "?user=" & Told ("USER") & "&password=" & Told ("PASSWORD"));

end Described;
