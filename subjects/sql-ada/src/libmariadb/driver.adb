--  MariaDB by libmariadb: statements as text, prepared ones by the binary protocol

with Ada.Unchecked_Deallocation;
with Interfaces;
with Interfaces.C;         use Interfaces.C;
with Interfaces.C.Strings; use Interfaces.C.Strings;
with Laboratory;           use Laboratory;
with Libmariadb;
with System;               use type System.Address;

package body Driver is

   use type Interfaces.Unsigned_64;
   use type Libmariadb.Row;

   type Connection_Record is record
      Handle : Libmariadb.Handle;
   end record;

   type Buffers is array (1 .. Libmariadb.Columns_Most) of aliased Libmariadb.Long_Long;

   --  Parameter and columns stay where they are for all executions
   type Statement_Record is record
      Handle   : Libmariadb.Statement;
      Columns  : Natural := 0;
      Argument : aliased Libmariadb.Long_Long := 0;
      Values   : Buffers;
   end record;

   procedure Fail (On : Connection) with No_Return;
   procedure Fail (Its : Statement) with No_Return;

   procedure Execute (On : Connection; Text : String);

   procedure Bind (Its : Statement);

   procedure Execute (Its : Statement; Argument : Integer);

   function Why_Not_Prepared return String is ("");

   -------------
   -- Failing --
   -------------

   procedure Fail (On : Connection) is
   begin
      raise Failed with Value (Libmariadb.Error (On.Handle));
   end Fail;

   procedure Fail (Its : Statement) is
   begin
      raise Failed with Value (Libmariadb.Stmt_Error (Its.Handle));
   end Fail;

   -------------
   -- Connect --
   -------------

   function Connect return Connection is
      On   : Connection := new Connection_Record'(Handle => Libmariadb.Init (System.Null_Address));
      Over : aliased unsigned := Libmariadb.Protocol_Tcp;
      Off  : aliased Libmariadb.My_Bool := 0;
      --  Left alone, the library wants TLS from its version 3.4 on
   begin
      if Libmariadb.Options (On.Handle, Libmariadb.Opt_Protocol, Over'Access) /= 0
        or else Libmariadb.Options (On.Handle, Libmariadb.Opt_Ssl_Verify_Server_Cert, Off'Access) /= 0
        or else Libmariadb.Options (On.Handle, Libmariadb.Opt_Ssl_Enforce, Off'Access) /= 0
        or else
          Libmariadb.Real_Connect
            (On       => On.Handle,
             Host     => To_C (Told ("HOST")),
             User     => To_C (Told ("USER")),
             Password => To_C (Told ("PASSWORD")),
             Database => To_C (Told ("NAME")),
             Port     => unsigned'Value (Told ("PORT")),
             Socket   => System.Null_Address,
             Flags    => 0) = System.Null_Address
      then
         declare
            Words : constant String := Value (Libmariadb.Error (On.Handle));
         begin
            Close (On);
            raise Failed with Words;
         end;
      end if;
      return On;
   end Connect;

   -----------
   -- Close --
   -----------

   procedure Close (On : in out Connection) is
      procedure Free is new Ada.Unchecked_Deallocation (Connection_Record, Connection);
   begin
      Libmariadb.Close (On.Handle);
      Free (On);
   end Close;

   ---------------------
   -- Text statements --
   ---------------------

   procedure Execute (On : Connection; Text : String) is
   begin
      if Libmariadb.Real_Query (On.Handle, Text'Address, Text'Length) /= 0 then
         Fail (On);
      end if;
   end Execute;

   procedure Query (On : Connection; Text : String; Wanted : Natural; Sum : in out Kit.Checksum) is
      Result  : Libmariadb.Result;
      Row     : Libmariadb.Row;
      Columns : Natural;
      Rows    : Natural := 0;
   begin
      Execute (On, Text);
      Result := Libmariadb.Store_Result (On.Handle);
      if Result = System.Null_Address then
         Fail (On);
      end if;
      Columns := Natural (Libmariadb.Num_Fields (Result));
      loop
         Row := Libmariadb.Fetch_Row (Result);
         exit when Row = null;
         for Column in 1 .. Columns loop
            Sum := Sum + Kit.Checksum (Libmariadb.Number (Row (Column), System.Null_Address, 10));
         end loop;
         Rows := Rows + 1;
      end loop;
      Libmariadb.Free_Result (Result);
      Expect (Rows, Wanted);
   end Query;

   procedure Change (On : Connection; Text : String; Wanted : Natural) is
   begin
      Execute (On, Text);
      Expect (Natural (Libmariadb.Affected_Rows (On.Handle)), Wanted);
   end Change;

   procedure Run (On : Connection; Text : String) is
   begin
      Execute (On, Text);
   end Run;

   procedure Start_Transaction (On : Connection) is
   begin
      Execute (On, "BEGIN");
   end Start_Transaction;

   procedure Commit (On : Connection) is
   begin
      Execute (On, "COMMIT");
   end Commit;

   procedure Roll_Back (On : Connection) is
   begin
      Execute (On, "ROLLBACK");
   end Roll_Back;

   -------------------------
   -- Prepared statements --
   -------------------------

   procedure Bind (Its : Statement) is
      Parameters : constant Libmariadb.Binds := (1 => (Buffer => Its.Argument'Address, others => <>));
      Columns    : Libmariadb.Binds (1 .. Its.Columns);
   begin
      for Column in Columns'Range loop
         Columns (Column).Buffer := Its.Values (Column)'Address;
      end loop;
      if Libmariadb.Stmt_Bind_Param (Its.Handle, Parameters) /= 0
        or else (Its.Columns > 0 and then Libmariadb.Stmt_Bind_Result (Its.Handle, Columns) /= 0)
      then
         Fail (Its);
      end if;
   end Bind;

   function Prepare (On : Connection; Text : String) return Statement is
      Handle : constant Libmariadb.Statement := Libmariadb.Stmt_Init (On.Handle);
      Its    : Statement;
   begin
      if Handle = System.Null_Address then
         Fail (On);
      end if;
      Its := new Statement_Record'(Handle => Handle, Values => (others => 0), others => <>);
      if Libmariadb.Stmt_Prepare (Handle, Text'Address, Text'Length) /= 0 then
         Fail (Its);
      end if;
      Its.Columns := Natural (Libmariadb.Stmt_Field_Count (Handle));
      Bind (Its);
      return Its;
   end Prepare;

   procedure Execute (Its : Statement; Argument : Integer) is
   begin
      Its.Argument := Libmariadb.Long_Long (Argument);
      if Libmariadb.Stmt_Execute (Its.Handle) /= 0 then
         Fail (Its);
      end if;
   end Execute;

   procedure Query (Its : Statement; Argument : Integer; Wanted : Natural; Sum : in out Kit.Checksum) is
      Rows    : Natural := 0;
      Fetched : int;
   begin
      Execute (Its, Argument);
      if Libmariadb.Stmt_Store_Result (Its.Handle) /= 0 then
         Fail (Its);
      end if;
      loop
         Fetched := Libmariadb.Stmt_Fetch (Its.Handle);
         exit when Fetched /= 0;
         for Column in 1 .. Its.Columns loop
            Sum := Sum + Kit.Checksum (Its.Values (Column));
         end loop;
         Rows := Rows + 1;
      end loop;
      if Fetched /= Libmariadb.No_Data or else Libmariadb.Stmt_Free_Result (Its.Handle) /= 0 then
         Fail (Its);
      end if;
      Expect (Rows, Wanted);
   end Query;

   procedure Change (Its : Statement; Argument : Integer; Wanted : Natural) is
   begin
      Execute (Its, Argument);
      Expect (Natural (Libmariadb.Stmt_Affected_Rows (Its.Handle)), Wanted);
   end Change;

   procedure Forget (Its : in out Statement) is
      procedure Free is new Ada.Unchecked_Deallocation (Statement_Record, Statement);
   begin
      if Libmariadb.Stmt_Close (Its.Handle) /= 0 then
         Free (Its);
         raise Failed with "a prepared statement could not be closed";
      end if;
      Free (Its);
   end Forget;

end Driver;
