--  The process's own connection, its tables, and statements that must succeed

with GNATCOLL.SQL.Exec; use GNATCOLL.SQL.Exec;
with Kit;               use type Kit.Checksum, Kit.Iterations;

package Sql is

   Failed : exception;
   --  A statement failed, or met other rows than it should: a failure, never a time

   Columns : constant String := "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER";

   Parameter : constant String := "?1";

   Rows_Most : constant := 1000;

   function Connect return Database_Connection;

   procedure Close (Connection : in out Database_Connection);

   function Own return Database_Connection;
   --  Open from the first call on, so that SQLite's file never loses its last user, which would make it tidy up. The
   --  table of rows is filled at the first call

   function Rows_Table return String;
   --  Of Rows_Most rows of known values, never changed

   function Written_Table return String;
   --  For tests that write

   procedure Query
     (Connection : Database_Connection;
      Text       : String;
      Wanted     : Natural;
      Sum        : in out Kit.Checksum);
   --  Adds every column of every row

   procedure Query
     (Connection : Database_Connection;
      Statement  : Prepared_Statement;
      Argument   : Integer;
      Wanted     : Natural;
      Sum        : in out Kit.Checksum);

   procedure Change (Connection : Database_Connection; Text : String; Wanted : Natural);
   --  A statement that changes so many rows

   procedure Change
     (Connection : Database_Connection;
      Statement  : Prepared_Statement;
      Argument   : Integer;
      Wanted     : Natural);

   procedure Run (Connection : Database_Connection; Text : String);
   --  A statement about tables

   procedure Nothing (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  The control: the loop without the statement

end Sql;
