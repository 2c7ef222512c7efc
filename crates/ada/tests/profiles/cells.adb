--  Servers with one guard each, for a program that will be under Ravenscar

with Ada.Text_IO; use Ada.Text_IO;

procedure Cells is

   Size : constant := 2;

   task Cell is
      entry Put (N : in Integer);
      entry Get (N : out Integer);
      entry Clear;
   end Cell;

   task body Cell is
      Room  : constant := Size + 1;
      Items : array (1 .. Room) of Integer := (others => 0);
      Count : Natural := 0;
   begin
      loop
         select
            accept Put (N : in Integer) do
               if N < 0 then
                  return;
               end if;
               Count := Count + 1;
               Items (Count) := N;
            end Put;
         or
            when Count > 0 and then Count < Room =>
               accept Get (N : out Integer) do
                  N := Items (Count);
                  Count := Count - 1;
               end Get;
         or
            accept Clear;
            Count := 0;
         or
            terminate;
         end select;
      end loop;
   end Cell;

   --  The order is kept by a stage.
   task Turns is
      entry Left;
      entry Right;
   end Turns;

   task body Turns is
   begin
      loop
         accept Left;
         accept Right;
      end loop;
   end Turns;

   --  What runs first shuts all entries until then.
   task Late is
      entry Ask (N : out Integer);
   end Late;

   task body Late is
      N : Integer;
   begin
      N := 3;
      Put_Line ("begun");
      loop
         select
            when N > 0 =>
               accept Ask (N : out Integer) do
                  N := Late.N;
               end Ask;
               N := N - 1;
         or
            terminate;
         end select;
      end loop;
   end Late;

   task Client;

   task body Client is
   begin
      Turns.Right;
      Put_Line ("right");
   end Client;

   N : Integer;

begin
   Late.Ask (N);
   Put_Line (Integer'Image (N));
   Cell.Put (-1);
   Cell.Put (1);
   Cell.Put (2);
   Cell.Put (3);
   Cell.Clear;
   Cell.Put (4);
   Cell.Get (N);
   Put_Line (Integer'Image (N));
   delay 0.1;
   Put_Line ("left");
   Turns.Left;
end Cells;
