with Connections;
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

   task type Server with Storage_Size => Stack_Size, Secondary_Stack_Size => Answers_Size;

   task body Server is
      Client : Socket_Type;
   begin
      loop
         Queue.Take (Client);
         Connections.Serve (Client);
      end loop;
   end Server;

   type Server_Access is access Server;

   Made : Natural := 0;
   --  How many tasks there are; of the accepting task alone

   procedure Serve (Client : Socket_Type) is
      Needs_Task : Boolean;
      New_Server : Server_Access with Unreferenced;
   begin
      Queue.Put (Client, Needs_Task);
      if Needs_Task and then Made < Settings.Tasks_Max then
         Made       := Made + 1;
         New_Server := new Server;
      end if;
   end Serve;

   function Connections_Wait return Boolean is (Count_Waiting > 0);

end Pool;
