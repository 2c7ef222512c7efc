--  SQLite

with Kit;        use type Kit.Checksum;
with Laboratory; use Laboratory;

package body Database is

   function Columns return String is ("id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER");

   function Parameter return String is ("?1");

   function First return String is ("WHERE id <=");

   function No_Result return String is ("PRAGMA query_only = OFF");

   procedure Expect (On : Driver.Connection; Pragma_Name, Wanted : String);
   --  What a pragma says when it is asked, as SQL writes it

   procedure Lengthen_Log (On : Driver.Connection);
   --  As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the
   --  processor

   procedure Expect (On : Driver.Connection; Pragma_Name, Wanted : String) is
      Is_Wanted : Kit.Checksum := 0;
   begin
      Driver.Query
        (On, "SELECT " & Pragma_Name & " = " & Wanted & " FROM pragma_" & Pragma_Name, 1, Is_Wanted);
      if Is_Wanted /= 1 then
         raise Failed with "PRAGMA " & Pragma_Name & " does not give " & Wanted;
      end if;
   end Expect;

   procedure Lengthen_Log (On : Driver.Connection) is
   begin
      Driver.Run (On, "CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros");
      Driver.Run (On, "DROP TABLE filler");
   end Lengthen_Log;

   procedure Settle (On : Driver.Connection) is
   begin
      --  The journal's mode belongs to the file; that each commit is written through is the library's default
      Driver.Run (On, "PRAGMA journal_mode = wal");
      Expect (On, "journal_mode", "'wal'");
      Expect (On, "synchronous", "2");
      Lengthen_Log (On);
   end Settle;

end Database;
