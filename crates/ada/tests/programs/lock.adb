with Ada.Text_IO; use Ada.Text_IO;

procedure Lock is

   Rounds : constant := 10;

   task Resource is
      entry Acquire;
      entry Release;
   end Resource;

   task type Client;

   task Buffer is
      entry Put (X : in Integer);   --  puts
      entry Get (X : out Integer);
      entry Stop;
   end Buffer;

   task body Resource is
   begin
      loop
         accept Acquire;
         accept Release;
      end loop;
   end Resource;

   task body Client is
   begin
      for I in 1 .. Rounds loop
         Resource.Acquire;
         Buffer.Put (I);
         Resource.Release;
      end loop;
   end Client;

   --  A bounded buffer
   task body Buffer is
      Size  : constant := 10;
      Store : array (1 .. Size) of Integer;
      Count : Natural := 0;
      First, Last : Positive := 1;   --  ends
   begin
      Put_Line ("buffer starts");
      loop
         select
            --  room
            when Count < Size =>
               accept Put (X : in Integer) do
                  Store (Last) := X;
               end Put;
               Last := Last mod Size + 1;
               Count := Count + 1;
         or
            when Count > 0 =>
               accept Get (X : out Integer) do
                  X := Store (First);
               end Get;
               First := First mod Size + 1;
               Count := Count - 1;
         or
            accept Stop;
            exit;
         or
            terminate;
         end select;
      end loop;
      Put_Line ("buffer ends");
   end Buffer;

   Clients : array (1 .. 3) of Client;
   Sum, X  : Integer := 0;
begin
   for I in 1 .. 30 loop
      Buffer.Get (X);
      Sum := Sum + X;
   end loop;
   Put_Line (Integer'Image (Sum));
   Buffer.Stop;
   begin
      Buffer.Put (1);
   exception
      when Tasking_Error => Put_Line ("closed");
   end;

end Lock;
