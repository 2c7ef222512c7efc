--  Databases by GNATCOLL

with Ada.Unchecked_Deallocation;
with Described;
with GNATCOLL.SQL.Exec; use GNATCOLL.SQL.Exec;
with Laboratory;        use Laboratory;

package body Driver is

   type Connection_Record is record
      Handle : Database_Connection;
   end record;

   type Statement_Record is record
      On       : Connection;
      Prepared : Prepared_Statement;
   end record;

   procedure Check (On : Connection);
   --  Raises Failed with the words of the database, if the last statement failed

   procedure Begin_Nothing_By_Itself (Handle : Database_Connection);
   --  Nobody asks for transactions but the tests of transactions

   procedure Add (Cursor : in out Forward_Cursor; Wanted : Natural; Sum : in out Kit.Checksum);

   function Why_Not_Prepared return String is ("");

   -----------------------------
   -- Begin_Nothing_By_Itself --
   -----------------------------

   procedure Begin_Nothing_By_Itself (Handle : Database_Connection) is
   begin
      Automatic_Transactions (Handle, False);
   end Begin_Nothing_By_Itself;

   -------------
   -- Connect --
   -------------

   function Connect return Connection is
      Handle : constant Database_Connection := Described.Description.Build_Connection;
   begin
      Begin_Nothing_By_Itself (Handle);
      return new Connection_Record'(Handle => Handle);
   end Connect;

   -----------
   -- Close --
   -----------

   procedure Close (On : in out Connection) is
      procedure Free is new Ada.Unchecked_Deallocation (Connection_Record, Connection);
   begin
      Free (On.Handle);
      Free (On);
   end Close;

   -----------
   -- Check --
   -----------

   procedure Check (On : Connection) is
   begin
      if not On.Handle.Success then
         declare
            Words : constant String := On.Handle.Last_Error_Message;
         begin
            --  The first failure's words stay the last ones until the connection is reset, as if it had just come
            --  from a pool
            On.Handle.Reset_Connection;
            Begin_Nothing_By_Itself (On.Handle);
            raise Failed with Words;
         end;
      end if;
   end Check;

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

   procedure Query (On : Connection; Text : String; Wanted : Natural; Sum : in out Kit.Checksum) is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (On.Handle, Text);
      Check (On);
      Add (Cursor, Wanted, Sum);
   end Query;

   procedure Query (Its : Statement; Argument : Integer; Wanted : Natural; Sum : in out Kit.Checksum) is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (Its.On.Handle, Its.Prepared, (1 => +Argument));
      Check (Its.On);
      Add (Cursor, Wanted, Sum);
   end Query;

   ------------
   -- Change --
   ------------

   procedure Change (On : Connection; Text : String; Wanted : Natural) is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (On.Handle, Text);
      Check (On);
      Expect (Cursor.Processed_Rows, Wanted);
   end Change;

   procedure Change (Its : Statement; Argument : Integer; Wanted : Natural) is
      Cursor : Forward_Cursor;
   begin
      Cursor.Fetch (Its.On.Handle, Its.Prepared, (1 => +Argument));
      Check (Its.On);
      Expect (Cursor.Processed_Rows, Wanted);
   end Change;

   ---------
   -- Run --
   ---------

   procedure Run (On : Connection; Text : String) is
   begin
      Execute (On.Handle, Text);
      Check (On);
   end Run;

   ------------------
   -- Transactions --
   ------------------

   procedure Start_Transaction (On : Connection) is
   begin
      if not On.Handle.Start_Transaction then
         raise Failed with "a transaction is open already";
      end if;
   end Start_Transaction;

   procedure Commit (On : Connection) is
   begin
      On.Handle.Commit;
      Check (On);
   end Commit;

   procedure Roll_Back (On : Connection) is
   begin
      if On.Handle.In_Transaction then
         On.Handle.Rollback;
      end if;
   end Roll_Back;

   -------------
   -- Prepare --
   -------------

   function Prepare (On : Connection; Text : String) return Statement is
     (new Statement_Record'(On => On, Prepared => Prepare (Text, On_Server => True)));

   procedure Forget (Its : in out Statement) is
      procedure Free is new Ada.Unchecked_Deallocation (Statement_Record, Statement);
   begin
      Free (Its);
   end Forget;

end Driver;
