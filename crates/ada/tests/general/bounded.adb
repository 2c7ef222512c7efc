--  A bounded buffer: guards, parameters of both modes, an accept without a body

with Ada.Text_IO; use Ada.Text_IO;
procedure Bounded is
   task Buffer is
      entry Put (X : in Integer);
      entry Get (X : out Integer);
      entry Stop;
   end Buffer;

   task body Buffer is
      Size  : constant := 3;
      Store : array (1 .. Size) of Integer;
      First, Last : Positive := 1;
      Count : Natural := 0;
   begin
      loop
         select
            when Count < Size =>
               accept Put (X : in Integer) do
                  Store (Last) := X;
               end Put;
               Last := Last mod Size + 1;
               Count := Count + 1;
         or
            when Count > 0 =>
               --  Hand out the oldest
               accept Get (X : out Integer) do
                  X := Store (First);
               end Get;
               First := First mod Size + 1;
               Count := Count - 1;
         or
            accept Stop;
            exit;
         end select;
      end loop;
   end Buffer;
   X : Integer;
begin
   for I in 1 .. 10 loop
      Buffer.Put (I);
      Buffer.Put (I * I);
      Buffer.Get (X);
      Put_Line (Integer'Image (X));
      Buffer.Get (X);
      Put_Line (Integer'Image (X));
   end loop;
   select
      Buffer.Get (X);
   else
      Put_Line ("empty");
   end select;
   Buffer.Stop;
   begin
      Buffer.Put (3);
   exception
      when Tasking_Error => Put_Line ("gone");
   end;
end Bounded;
