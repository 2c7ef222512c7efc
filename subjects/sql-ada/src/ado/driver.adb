--  Databases by Ada Database Objects, through sessions, without its mapping of rows to objects

with Ada.Exceptions; use Ada.Exceptions;
with Ada.Unchecked_Deallocation;
with ADO.Configs;
with ADO.Objects;    use ADO.Objects;
with ADO.Sessions.Factory;
with ADO.Statements; use ADO.Statements;
with Described;
with Laboratory;     use Laboratory;
with Util.Log.Loggers;
with Util.Properties;

package body Driver is

   type Connection_Record is record
      Session        : ADO.Sessions.Master_Session;
      In_Transaction : Boolean := False;
   end record;

   type Statement_Record is null record;

   Factory : ADO.Sessions.Factory.Session_Factory;

   Is_Set_Up : Boolean := False;

   procedure Set_Up;

   procedure Fail (Error : Exception_Occurrence) with No_Return;
   --  In the words of the database

   ------------
   -- Set_Up --
   ------------

   procedure Set_Up is
      Settings : Util.Properties.Manager;
   begin
      --  What fails is raised; ADO also logs it, to standard output, where the protocol is
      Settings.Set ("log4j.rootCategory", "FATAL");
      Util.Log.Loggers.Initialize (Settings);
      --  A table of entities is the mapping's
      Settings.Set (ADO.Configs.NO_ENTITY_LOAD, "true");
      ADO.Configs.Initialize (Settings);
      Described.Register;
      Factory.Create (Described.Address);
      Is_Set_Up := True;
   end Set_Up;

   ----------
   -- Fail --
   ----------

   procedure Fail (Error : Exception_Occurrence) is
   begin
      --  That SQLite's file was locked for too long comes without words
      raise Failed with
        (if Exception_Identity (Error) = LAZY_LOCK'Identity then "database is locked" else Exception_Message (Error));
   end Fail;

   -------------
   -- Connect --
   -------------

   function Connect return Connection is
   begin
      if not Is_Set_Up then
         Set_Up;
      end if;
      return new Connection_Record'(Session => Factory.Get_Master_Session, others => <>);
   exception
      when Error : ADO.Configs.Connection_Error =>
         Fail (Error);
   end Connect;

   -----------
   -- Close --
   -----------

   procedure Close (On : in out Connection) is
      procedure Free is new Ada.Unchecked_Deallocation (Connection_Record, Connection);
   begin
      On.Session.Close;
      Free (On);
   end Close;

   -----------
   -- Query --
   -----------

   procedure Query (On : Connection; Text : String; Wanted : Natural; Sum : in out Kit.Checksum) is
      Its     : Query_Statement := On.Session.Create_Statement (Text);
      Columns : Natural;
      Rows    : Natural := 0;
   begin
      Its.Execute;
      Columns := Its.Get_Column_Count;
      while Its.Has_Elements loop
         for Column in 0 .. Columns - 1 loop
            Sum := Sum + Kit.Checksum (Its.Get_Int64 (Column));
         end loop;
         Rows := Rows + 1;
         Its.Next;
      end loop;
      Expect (Rows, Wanted);
   exception
      when Error : SQL_Error | LAZY_LOCK =>
         Fail (Error);
   end Query;

   ------------
   -- Change --
   ------------

   procedure Change (On : Connection; Text : String; Wanted : Natural) is
      --  The only kind that has its text as it is from all of ADO's drivers, and says how many rows it changed
      Its     : Delete_Statement := On.Session.Create_Statement (Text);
      Changed : Natural;
   begin
      Its.Execute (Changed);
      Expect (Changed, Wanted);
   exception
      when Error : SQL_Error | LAZY_LOCK =>
         Fail (Error);
   end Change;

   ---------
   -- Run --
   ---------

   procedure Run (On : Connection; Text : String) is
   begin
      On.Session.Execute (Text);
   exception
      when Error : SQL_Error | LAZY_LOCK =>
         Fail (Error);
   end Run;

   ------------------
   -- Transactions --
   ------------------

   --  As texts: ADO's own calls would leave MariaDB without autocommit afterwards, lock SQLite at once, and not notice
   --  that PostgreSQL refused them

   procedure Start_Transaction (On : Connection) is
   begin
      Run (On, "BEGIN");
      On.In_Transaction := True;
   end Start_Transaction;

   procedure Commit (On : Connection) is
   begin
      Run (On, "COMMIT");
      On.In_Transaction := False;
   end Commit;

   procedure Roll_Back (On : Connection) is
   begin
      if On.In_Transaction then
         On.In_Transaction := False;
         Run (On, "ROLLBACK");
      end if;
   end Roll_Back;

   -------------------------
   -- Prepared statements --
   -------------------------

   --  There are none: what prepares one fails

   function Why_Not_Prepared return String is
     ("ADO has no prepared statements, it writes parameters into the text: see rows.* and insert");

   function Prepare (On : Connection; Text : String) return Statement is
     (raise Failed with Why_Not_Prepared);

   procedure Query (Its : Statement; Argument : Integer; Wanted : Natural; Sum : in out Kit.Checksum) is null;

   procedure Change (Its : Statement; Argument : Integer; Wanted : Natural) is null;

   procedure Forget (Its : in out Statement) is null;

end Driver;
