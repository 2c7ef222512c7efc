with Ada.Exceptions;
with Ada.Text_IO;
with Connections;
with Dates;
with Settings;

package body Pool is

   use GNAT.Sockets;

   Waiting_Max : constant := 1_024;

   Stack_Size : constant := 32 * 1_024;
   --  A connection's buffers stand on its task's stack

   Answers_Size : constant := 2 * 1_024;
   --  So do the answers, on a stack of their own

   type Place is mod Waiting_Max;
   type Sockets is array (Place) of Socket_Type;

   Count_Waiting : Natural := 0 with Atomic;
   --  As many as wait in the queue, for those who ask without its lock

   protected Queue is
      entry Put (Client : Socket_Type; Needs_Task : out Boolean);
      --  Needs_Task: more wait than there are tasks that wait for them
      entry Take (Client : out Socket_Type);
   private
      Waiting : Sockets;
      First   : Place   := 0;
      Count   : Natural := 0;
   end Queue;

   protected body Queue is

      entry Put (Client : Socket_Type; Needs_Task : out Boolean) when Count < Waiting_Max is
      begin
         Waiting (First + Place'Mod (Count)) := Client;
         Count         := Count + 1;
         Count_Waiting := Count;
         Needs_Task    := Take'Count < Count;
      end Put;

      entry Take (Client : out Socket_Type) when Count > 0 is
      begin
         Client        := Waiting (First);
         First         := First + 1;
         Count         := Count - 1;
         Count_Waiting := Count;
      end Take;

   end Queue;

   procedure Serve_And_Close (Client : Socket_Type; Date : in out Dates.Stamp);
   --  Whatever goes wrong ends the connection, and no more than that

   procedure Serve_And_Close (Client : Socket_Type; Date : in out Dates.Stamp) is
   begin
      begin
         Connections.Serve (Client, Date);
      exception
         when Socket_Error =>
            --  The client broke off, or did not take its answer
            null;
         when Wrong : others =>
            Ada.Text_IO.Put_Line
              (Ada.Text_IO.Standard_Error, "rest_server: " & Ada.Exceptions.Exception_Information (Wrong));
      end;
      Close_Socket (Client);
   exception
      when Socket_Error =>
         --  It was broken already
         null;
   end Serve_And_Close;

   task type Server with Storage_Size => Stack_Size, Secondary_Stack_Size => Answers_Size;

   task body Server is
      Client : Socket_Type;
      Date   : Dates.Stamp;
   begin
      loop
         Queue.Take (Client);
         Serve_And_Close (Client, Date);
      end loop;
   end Server;

   type Server_Access is access Server;

   Made : Natural := 0;
   --  How many tasks there are; of the accepting task alone

   Is_Whole : Boolean := False with Atomic;
   --  Whether no more are made

   procedure Make_Task;

   procedure Make_Task is
      New_Server : Server_Access with Unreferenced;
   begin
      New_Server := new Server;
      Made       := Made + 1;
      Is_Whole   := Made = Settings.Tasks_Max;
   exception
      when Storage_Error | Tasking_Error =>
         --  The system permits no more threads: those that there are take turns
         if Made = 0 then
            raise;
         end if;
         Is_Whole := True;
   end Make_Task;

   procedure Serve (Client : Socket_Type) is
      Needs_Task : Boolean;
   begin
      Queue.Put (Client, Needs_Task);
      if Needs_Task and then not Is_Whole then
         Make_Task;
      end if;
   end Serve;

   --  One that waits for a task that is just made waits for nobody else
   function Connections_Wait return Boolean is (Is_Whole and then Count_Waiting > 0);

end Pool;
