pragma Ada_2022;

with Ada.Exceptions;
with Ada.Text_IO;
with Connections;
with Dates;
with Interfaces.C;
with Settings;
with System.Atomic_Operations.Integer_Arithmetic;

package body Pool is

   use GNAT.Sockets;

   Stack_Size : constant := 32 * 1_024;
   --  A connection's buffers stand on its task's stack

   Answers_Size : constant := 2 * 1_024;
   --  So do the answers, on a stack of their own

   type Count is new Integer with Atomic;

   package Counting is new System.Atomic_Operations.Integer_Arithmetic (Count);

   Free : aliased Count := 0;
   --  Tasks that wait for a connection, or are about to

   Made : aliased Count := 0;

   Is_Whole : Boolean := False with Atomic;
   --  Whether no more are made

   Accepting : Socket_Type := No_Socket;
   --  Set before there is a task

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

   type Server_Access is access Server;

   procedure Make_Task;
   --  It counts as free at once, so that nobody else makes one for the same need

   procedure Make_Task is
      New_Server : Server_Access with Unreferenced;
      Before     : constant Count := Counting.Atomic_Fetch_And_Add (Made, 1);
   begin
      if Before >= Settings.Tasks_Max then
         return;
      end if;
      Is_Whole := Before + 1 = Settings.Tasks_Max;
      Counting.Atomic_Add (Free, 1);
      New_Server := new Server;
   exception
      when Storage_Error | Tasking_Error =>
         --  The system permits no more threads: those that there are take turns
         Counting.Atomic_Subtract (Free, 1);
         if Before = 0 then
            raise;
         end if;
         Is_Whole := True;
   end Make_Task;

   --  Each accepts for itself: a task that handed connections to the others would have one of them wake for each
   task body Server is
      Client  : Socket_Type;
      Address : Sock_Addr_Type;
      Date    : Dates.Stamp;
   begin
      loop
         begin
            Accept_Socket (Accepting, Client, Address);
            --  Who was the last that was free sees to it that somebody accepts the next one
            if Counting.Atomic_Fetch_And_Subtract (Free, 1) = 1 and then not Is_Whole then
               Make_Task;
            end if;
            Serve_And_Close (Client, Date);
            Counting.Atomic_Add (Free, 1);
         exception
            when Socket_Error =>
               --  The client went away before it was accepted, or no descriptor is free: a moment later one may be
               delay 0.01;
         end;
      end loop;
   end Server;

   procedure Serve (Listener : Socket_Type) is
   begin
      Accepting := Listener;
      Make_Task;
   end Serve;

   function Connections_Wait return Boolean is

      use type Interfaces.C.int;

      type Asked is record
         Socket : Interfaces.C.int;
         Events : Interfaces.C.short;
         Found  : Interfaces.C.short;
      end record
        with Convention => C;

      POLLIN : constant := 1;

      function Poll (Of_It : in out Asked; Number : Interfaces.C.unsigned_long; Milliseconds : Interfaces.C.int) return Interfaces.C.int
        with Import, Convention => C, External_Name => "poll";

      Listening : Asked := (Socket => Interfaces.C.int (To_C (Accepting)), Events => POLLIN, Found => 0);

   begin
      --  One that waits for a task that is just made, or is free, waits for nobody else
      return Is_Whole and then Free <= 0 and then Poll (Listening, 1, 0) > 0;
   end Connections_Wait;

end Pool;
