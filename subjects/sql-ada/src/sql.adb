with Ada.Environment_Variables;
with GNATCOLL.SQL.Sqlite;

package body Sql is

   Description : Database_Description;

   Its_Own : Database_Connection;

   Filled : Boolean := False;

   function Told (Name : String) return String;
   --  What the laboratory says of the database

   procedure Check (Connection : Database_Connection);
   --  Raises Failed with the words of the database, if the last statement failed

   procedure Expect (Found, Wanted : Natural);

   procedure Expect (Pragma_Text, Wanted : String);
   --  The one column that a pragma gives

   procedure Add (Cursor : in out Forward_Cursor; Wanted : Natural; Sum : in out Kit.Checksum);

   procedure Fill;

   ----------
   -- Told --
   ----------

   function Told (Name : String) return String is
      Full : constant String := "ANTIPHON_SQL_" & Name;
   begin
      if not Ada.Environment_Variables.Exists (Full) then
         raise Failed with
           Full & " is not set: start the program by the laboratory, or name a database (docs/subjects.md)";
      end if;
      return Ada.Environment_Variables.Value (Full);
   end Told;

   function Rows_Table return String is (Told ("TABLE") & "_rows");

   function Written_Table return String is (Told ("TABLE") & "_written");

   -------------
   -- Connect --
   -------------

   function Connect return Database_Connection is
      Connection : Database_Connection;
   begin
      if Description = null then
         GNATCOLL.SQL.Sqlite.Max_Ms_On_Busy := 10_000;
         Description := GNATCOLL.SQL.Sqlite.Setup (Told ("FILE"));
      end if;
      Connection := Description.Build_Connection;
      --  Nobody asks for transactions but the tests of transactions
      Automatic_Transactions (Connection, False);
      return Connection;
   end Connect;

   procedure Close (Connection : in out Database_Connection) is
   begin
      Free (Connection);
   end Close;

   -----------
   -- Check --
   -----------

   procedure Check (Connection : Database_Connection) is
   begin
      if not Connection.Success then
         raise Failed with Connection.Last_Error_Message;
      end if;
   end Check;

   procedure Expect (Found, Wanted : Natural) is
   begin
      if Found /= Wanted then
         raise Failed with Found'Image & " rows in place of" & Wanted'Image;
      end if;
   end Expect;

   procedure Expect (Pragma_Text, Wanted : String) is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (Its_Own, "PRAGMA " & Pragma_Text);
      Check (Its_Own);
      if not Cursor.Has_Row or else Cursor.Value (0) /= Wanted then
         raise Failed with "PRAGMA " & Pragma_Text & " does not give " & Wanted;
      end if;
   end Expect;

   ---------
   -- Own --
   ---------

   function Own return Database_Connection is
   begin
      if Its_Own = null then
         Its_Own := Connect;
         --  The journal's mode belongs to the file; that each commit is written through is the library's default
         Expect ("journal_mode = wal", "wal");
         Expect ("synchronous", "2");
      end if;
      if not Filled then
         Fill;
         Filled := True;
      end if;
      return Its_Own;
   end Own;

   ----------
   -- Fill --
   ----------

   procedure Fill is
      Table : constant String := Rows_Table;
      Value : Natural;
   begin
      Run (Its_Own, "DROP TABLE IF EXISTS " & Table);
      Run (Its_Own, "CREATE TABLE " & Table & " (" & Columns & ")");
      if not Its_Own.Start_Transaction then
         raise Failed with "a transaction is open already";
      end if;
      for Key in 1 .. Rows_Most loop
         --  The same in all languages
         Value := 7919 * Key mod 10_007;
         Change
           (Its_Own, "INSERT INTO " & Table & " (id, value) VALUES (" & Key'Image & "," & Value'Image & ")", 1);
      end loop;
      Its_Own.Commit;
      Check (Its_Own);
   end Fill;

   ---------
   -- Add --
   ---------

   procedure Add (Cursor : in out Forward_Cursor; Wanted : Natural; Sum : in out Kit.Checksum) is
      Rows : Natural := 0;
      Last : Field_Index;
   begin
      if Cursor.Has_Row then
         Last := Cursor.Field_Count - 1;
      end if;
      while Cursor.Has_Row loop
         for Field in 0 .. Last loop
            Sum := Sum + Kit.Checksum (Cursor.Bigint_Value (Field));
         end loop;
         Rows := Rows + 1;
         Cursor.Next;
      end loop;
      Expect (Rows, Wanted);
   end Add;

   -----------
   -- Query --
   -----------

   procedure Query
     (Connection : Database_Connection;
      Text       : String;
      Wanted     : Natural;
      Sum        : in out Kit.Checksum)
   is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (Connection, Text);
      Check (Connection);
      Add (Cursor, Wanted, Sum);
   end Query;

   procedure Query
     (Connection : Database_Connection;
      Statement  : Prepared_Statement;
      Argument   : Integer;
      Wanted     : Natural;
      Sum        : in out Kit.Checksum)
   is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (Connection, Statement, (1 => +Argument));
      Check (Connection);
      Add (Cursor, Wanted, Sum);
   end Query;

   ------------
   -- Change --
   ------------

   procedure Change (Connection : Database_Connection; Text : String; Wanted : Natural) is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (Connection, Text);
      Check (Connection);
      Expect (Cursor.Processed_Rows, Wanted);
   end Change;

   procedure Change
     (Connection : Database_Connection;
      Statement  : Prepared_Statement;
      Argument   : Integer;
      Wanted     : Natural)
   is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (Connection, Statement, (1 => +Argument));
      Check (Connection);
      Expect (Cursor.Processed_Rows, Wanted);
   end Change;

   procedure Run (Connection : Database_Connection; Text : String) is
   begin
      Execute (Connection, Text);
      Check (Connection);
   end Run;

   -------------
   -- Nothing --
   -------------

   procedure Nothing (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      Sum := 0;
      while Index < Count loop
         Sum := Sum + Kit.Checksum (Index);
         Kit.Increment (Index);
      end loop;
   end Nothing;

end Sql;
