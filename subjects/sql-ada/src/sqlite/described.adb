--  SQLite

with GNATCOLL.SQL.Sqlite;
with Laboratory; use Laboratory;

package body Described is

   function Columns return String is ("id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER");

   function Parameter return String is ("?1");

   function No_Result return String is ("PRAGMA query_only = OFF");

   Its_Description : Database_Description;

   procedure Expect (On : Database_Connection; Pragma_Text, Wanted : String);
   --  The one column that a pragma gives

   procedure Run (On : Database_Connection; Text : String);

   procedure Lengthen_Log (On : Database_Connection);
   --  As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the
   --  processor

   function Description return Database_Description is
   begin
      if Its_Description = null then
         GNATCOLL.SQL.Sqlite.Max_Ms_On_Busy := 10_000;
         Its_Description := GNATCOLL.SQL.Sqlite.Setup (Told ("FILE"));
      end if;
      return Its_Description;
   end Description;

   procedure Expect (On : Database_Connection; Pragma_Text, Wanted : String) is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (On, "PRAGMA " & Pragma_Text);
      if not On.Success or else not Cursor.Has_Row or else Cursor.Value (0) /= Wanted then
         raise Failed with "PRAGMA " & Pragma_Text & " does not give " & Wanted;
      end if;
   end Expect;

   procedure Run (On : Database_Connection; Text : String) is
   begin
      Execute (On, Text);
      if not On.Success then
         raise Failed with On.Last_Error_Message;
      end if;
   end Run;

   procedure Lengthen_Log (On : Database_Connection) is
   begin
      Run (On, "CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros");
      Run (On, "DROP TABLE filler");
   end Lengthen_Log;

   procedure Settle (On : Database_Connection) is
   begin
      --  The journal's mode belongs to the file; that each commit is written through is the library's default
      Expect (On, "journal_mode = wal", "wal");
      Expect (On, "synchronous", "2");
      Lengthen_Log (On);
   end Settle;

end Described;
