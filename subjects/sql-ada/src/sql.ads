--  The process's own connection and its tables

with Driver;
with Kit; use type Kit.Checksum, Kit.Iterations;

package Sql is

   Rows_Most : constant := 1000;

   function Own return Driver.Connection;
   --  Open from the first call on, so that SQLite's file never loses its last user, which would make it tidy up. The
   --  table of rows is filled at the first call

   procedure Nothing (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  The control: the loop without the statement

end Sql;
