with Ada.Exceptions;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Ada.Unchecked_Deallocation;
with Driver;                use type Driver.Connection;
with Kit;                   use type Kit.Checksum, Kit.Iterations;
with Laboratory;
with Sql;

package body Sql_Clients is

   Rows : constant := 10;

   Clients_Most : constant := 16;

   task type Client is
      entry Connect (Connection : Driver.Connection; Text : String);
      entry Start (Count : Kit.Iterations; Queries : Boolean);
      entry Wait (Sum : out Kit.Checksum; Wrong : out Unbounded_String);
      entry Stop;
   end Client;

   type Client_Access is access Client;

   procedure Free is new Ada.Unchecked_Deallocation (Client, Client_Access);

   type Member is record
      Its_Task   : Client_Access;
      Connection : Driver.Connection := Driver.Not_Connected;
   end record;

   --  Those in use come first and have a task
   Members : array (1 .. Clients_Most) of Member;

   generic
      Many : Positive;
   procedure Prepare (Arg : Kit.Argument);

   procedure Finish (Arg : Kit.Argument);

   procedure Go (Count : Kit.Iterations; Queries : Boolean; Sum : out Kit.Checksum);
   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Queries (Count : Kit.Iterations; Sum : out Kit.Checksum);

   ------------
   -- Client --
   ------------

   task body Client is
      Its_Connection : Driver.Connection;
      Its_Text       : Unbounded_String;
      Its_Count      : Kit.Iterations;
      Its_Queries    : Boolean;
      Its_Sum        : Kit.Checksum;
      Its_Wrong      : Unbounded_String;

      procedure Serve;

      procedure Serve is
         Index : Kit.Iterations := 0;
         Text  : constant String := To_String (Its_Text);
      begin
         Its_Sum := 0;
         while Index < Its_Count loop
            if Kit.Reporting then
               Kit.Thread_Reports ("client");
            end if;
            if Its_Queries then
               Driver.Query (Its_Connection, Text, Rows, Its_Sum);
            else
               Its_Sum := Its_Sum + Kit.Checksum (Index);
            end if;
            Kit.Increment (Index);
         end loop;
      exception
         when Error : others =>
            Its_Wrong := To_Unbounded_String (Ada.Exceptions.Exception_Message (Error));
      end Serve;

   begin
      Kit.Thread_Begins ("client");
      accept Connect (Connection : Driver.Connection; Text : String) do
         Its_Connection := Connection;
         Its_Text := To_Unbounded_String (Text);
      end Connect;
      loop
         select
            accept Start (Count : Kit.Iterations; Queries : Boolean) do
               Its_Count := Count;
               Its_Queries := Queries;
            end Start;
            Serve;
            accept Wait (Sum : out Kit.Checksum; Wrong : out Unbounded_String) do
               Sum := Its_Sum;
               Wrong := Its_Wrong;
            end Wait;
         or
            accept Stop;
            exit;
         end select;
      end loop;
   end Client;

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
      Ready : constant Driver.Connection := Sql.Own;
      pragma Unreferenced (Ready);
   begin
      for One of Members (1 .. Many) loop
         One.Connection := Driver.Connect;
         One.Its_Task := new Client;
         One.Its_Task.Connect
           (One.Connection, "SELECT * FROM " & Laboratory.Rows_Table & " LIMIT" & Integer'Image (Rows));
      end loop;
   end Prepare;

   ------------
   -- Finish --
   ------------

   procedure Finish (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      for One of Members loop
         if One.Its_Task /= null then
            One.Its_Task.Stop;
            --  A task may be freed once it has ended
            while not One.Its_Task'Terminated loop
               delay 0.001;
            end loop;
            Free (One.Its_Task);
         end if;
         if One.Connection /= Driver.Not_Connected then
            Driver.Close (One.Connection);
         end if;
      end loop;
   end Finish;

   --------
   -- Go --
   --------

   procedure Go (Count : Kit.Iterations; Queries : Boolean; Sum : out Kit.Checksum) is
      Its_Sum     : Kit.Checksum;
      Wrong       : Unbounded_String;
      First_Wrong : Unbounded_String;
   begin
      Sum := 0;
      for One of Members loop
         exit when One.Its_Task = null;
         One.Its_Task.Start (Count, Queries);
      end loop;
      for One of Members loop
         exit when One.Its_Task = null;
         One.Its_Task.Wait (Its_Sum, Wrong);
         Sum := Sum + Its_Sum;
         if First_Wrong = "" then
            First_Wrong := Wrong;
         end if;
      end loop;
      if First_Wrong /= "" then
         raise Laboratory.Failed with To_String (First_Wrong);
      end if;
   end Go;

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Go (Count, False, Sum);
   end Control;

   procedure Queries (Count : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Go (Count, True, Sum);
   end Queries;

   procedure Prepare_1 is new Prepare (1);
   procedure Prepare_2 is new Prepare (2);
   procedure Prepare_4 is new Prepare (4);
   procedure Prepare_8 is new Prepare (8);
   procedure Prepare_16 is new Prepare (16);

   --------------
   -- Register --
   --------------

   procedure Register is

      procedure Register (Name : String; Prepare : Kit.Hook; Many : Positive);

      procedure Register (Name : String; Prepare : Kit.Hook; Many : Positive) is
      begin
         Kit.Register_Frame
           ("concurrent." & Name, Control'Access, Queries'Access, Prepare, null, Finish'Access,
            Threads => Many + 1, Work => "sql.concurrent." & Name);
      end Register;

   begin
      Register ("1", Prepare_1'Access, 1);
      Register ("2", Prepare_2'Access, 2);
      Register ("4", Prepare_4'Access, 4);
      Register ("8", Prepare_8'Access, 8);
      Register ("16", Prepare_16'Access, 16);
   end Register;

end Sql_Clients;
