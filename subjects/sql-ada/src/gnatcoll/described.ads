--  What differs by database among those that GNATCOLL knows

with GNATCOLL.SQL.Exec; use GNATCOLL.SQL.Exec;

package Described is

   function Columns return String;

   function Parameter return String;

   function No_Result return String;

   function Description return Database_Description;
   --  The same each time

   procedure Settle (On : Database_Connection);

end Described;
