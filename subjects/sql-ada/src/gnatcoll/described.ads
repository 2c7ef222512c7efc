--  What differs by database among those that GNATCOLL knows

with GNATCOLL.SQL.Exec; use GNATCOLL.SQL.Exec;

package Described is

   function Description return Database_Description;
   --  The same each time

end Described;
