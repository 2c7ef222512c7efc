--  A connection to a database as the tests see it: a body over GNATCOLL, one over libmariadb and one over ADO. All
--  raise Laboratory.Failed with the words of the database, or if other rows come than were wanted

with Kit; use type Kit.Checksum;

package Driver is

   type Connection is private;

   Not_Connected : constant Connection;

   function Connect return Connection;

   procedure Close (On : in out Connection);

   procedure Query (On : Connection; Text : String; Wanted : Natural; Sum : in out Kit.Checksum);
   --  A query of so many rows: adds every column of each

   procedure Change (On : Connection; Text : String; Wanted : Natural);
   --  A statement that changes so many rows

   procedure Run (On : Connection; Text : String);
   --  A statement about tables or settings

   procedure Start_Transaction (On : Connection);
   procedure Commit (On : Connection);

   procedure Roll_Back (On : Connection);
   --  If a transaction was left open

   function Why_Not_Prepared return String;
   --  Why nothing can be prepared; empty where it can

   type Statement is private;

   function Prepare (On : Connection; Text : String) return Statement;
   --  With one parameter

   procedure Query (Its : Statement; Argument : Integer; Wanted : Natural; Sum : in out Kit.Checksum);

   procedure Change (Its : Statement; Argument : Integer; Wanted : Natural);

   procedure Forget (Its : in out Statement);

private

   type Connection_Record;
   type Connection is access Connection_Record;

   Not_Connected : constant Connection := null;

   type Statement_Record;
   type Statement is access Statement_Record;

end Driver;
