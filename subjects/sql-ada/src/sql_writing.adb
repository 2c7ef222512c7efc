with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Database;              use Database;
with Driver;                use Driver;
with Kit;                   use type Kit.Checksum, Kit.Iterations;
with Laboratory;            use Laboratory;
with Sql;

package body Sql_Writing is

   Together : constant := 10;
   --  Inserts that are one operation of the transactions' tests

   Drop_Text, Create_Text, Insert_Text : Unbounded_String;

   Prepared : Statement;

   Written : Kit.Checksum;
   --  Rows that the table must have

   procedure Prepare (Arg : Kit.Argument);
   procedure Check (Arg : Kit.Argument);
   procedure Finish (Arg : Kit.Argument);

   procedure Insert with Inline;
   procedure Insert_Prepared with Inline;
   procedure One_Transaction with Inline;
   procedure One_Each with Inline;

   generic
      with procedure Once;
   procedure Writing (Count : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Drop_Create (Count : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Prepare (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
      Table      : constant String := Written_Table;
      Connection : constant Driver.Connection := Sql.Own;
   begin
      Drop_Text   := To_Unbounded_String ("DROP TABLE " & Table);
      Create_Text := To_Unbounded_String ("CREATE TABLE " & Table & " (" & Columns & ")");
      Insert_Text := To_Unbounded_String ("INSERT INTO " & Table & " (value) VALUES (1)");
      Run (Connection, "DROP TABLE IF EXISTS " & Table);
      Run (Connection, To_String (Create_Text));
      if Why_Not_Prepared = "" then
         Prepared := Driver.Prepare (Connection, "INSERT INTO " & Table & " (value) VALUES (" & Parameter & ")");
      end if;
      Written := 0;
   end Prepare;

   procedure Check (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
      Sum : Kit.Checksum := 0;
   begin
      Query (Sql.Own, "SELECT count(*), coalesce(sum(value), 0) FROM " & Written_Table, 1, Sum);
      --  Each row holds a 1, so count and sum are the rows that were written
      if Sum /= 2 * Written then
         raise Failed with
           "the table's rows and values add up to" & Sum'Image & ", and should to" & Kit.Checksum'Image (2 * Written);
      end if;
   end Check;

   procedure Finish (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
      Connection : constant Driver.Connection := Sql.Own;
   begin
      Forget (Prepared);
      Roll_Back (Connection);
      Run (Connection, "DROP TABLE IF EXISTS " & Written_Table);
   end Finish;

   procedure Insert is
   begin
      Change (Sql.Own, To_String (Insert_Text), 1);
      Written := Written + 1;
   end Insert;

   procedure Insert_Prepared is
   begin
      Change (Prepared, 1, 1);
      Written := Written + 1;
   end Insert_Prepared;

   procedure One_Each is
   begin
      for Turn in 1 .. Together loop
         Insert;
      end loop;
   end One_Each;

   procedure One_Transaction is
   begin
      Start_Transaction (Sql.Own);
      One_Each;
      Commit (Sql.Own);
   end One_Transaction;

   procedure Writing (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index  : Kit.Iterations := 0;
      Before : constant Kit.Checksum := Written;
   begin
      while Index < Count loop
         Once;
         Kit.Increment (Index);
      end loop;
      Sum := Written - Before;
   end Writing;

   procedure Drop_Create (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index      : Kit.Iterations := 0;
      Connection : constant Driver.Connection := Sql.Own;
   begin
      Sum := 0;
      while Index < Count loop
         Run (Connection, To_String (Drop_Text));
         Run (Connection, To_String (Create_Text));
         Sum := Sum + 1;
         Kit.Increment (Index);
      end loop;
   end Drop_Create;

   procedure Inserts is new Writing (Insert);
   procedure Prepared_Inserts is new Writing (Insert_Prepared);
   procedure Transactions is new Writing (One_Transaction);
   procedure Singles is new Writing (One_Each);

   procedure Register is

      procedure Register (Name : String; Test : Kit.Frame; Work : String);

      procedure Register (Name : String; Test : Kit.Frame; Work : String) is
      begin
         Kit.Register_Frame
           (Name, Sql.Nothing'Access, Test, Prepare'Access, Check'Access, Finish'Access, Work => Work);
      end Register;

   begin
      Register ("insert", Inserts'Access, "sql.insert");
      if Why_Not_Prepared = "" then
         Register ("insert.prepared", Prepared_Inserts'Access, "sql.insert");
      else
         Kit.Register_Absent ("insert.prepared", "frame", Why_Not_Prepared, Work => "sql.insert");
      end if;
      Register ("transaction.one", Transactions'Access, "sql.transaction");
      Register ("transaction.each", Singles'Access, "sql.transaction");
      Register ("drop_create", Drop_Create'Access, "sql.drop_create");
   end Register;

end Sql_Writing;
