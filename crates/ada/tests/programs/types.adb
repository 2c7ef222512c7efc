--  Task types with discriminants: arrays of them, access to them, as components

with Ada.Text_IO; use Ada.Text_IO;

procedure Types is

   task type Cell (Size : Positive) is
      pragma Storage_Size (20_000);
      entry Put (I : in Positive; Value : in Integer);
      entry Get (I : in Positive; Value : out Integer);
   end Cell;

   type Cell_Access is access Cell;

   task type Counter is
      entry Up;
      entry Read (N : out Natural);
   end Counter;

   type Pair is record
      Left, Right : Counter;
   end record;

   task body Cell is
      Values : array (1 .. Size) of Integer := (others => 0);
   begin
      loop
         select
            accept Put (I : in Positive; Value : in Integer) do
               Values (I) := Value;
            end Put;
         or
            accept Get (I : in Positive; Value : out Integer) do
               Value := Values (I);
            end Get;
         or
            terminate;
         end select;
      end loop;
   end Cell;

   task body Counter is
      N : Natural := 0;
   begin
      loop
         select
            accept Up do
               N := N + 1;
            end Up;
         or
            accept Read (N : out Natural) do
               N := Counter.N;
            end Read;
         or
            terminate;
         end select;
      end loop;
   end Counter;

   Cells : array (1 .. 2) of Cell (3);
   Far   : constant Cell_Access := new Cell (5);
   Both  : Pair;
   Value : Integer;
begin
   for I in Cells'Range loop
      Cells (I).Put (I, 10 * I);
   end loop;
   Cells (2).Get (2, Value);
   Put_Line (Integer'Image (Value));
   Far.Put (5, 7);
   Far.all.Get (5, Value);
   Put_Line (Integer'Image (Value));
   Both.Left.Up;
   Both.Left.Up;
   Both.Right.Up;
   Both.Left.Read (Value);
   Put_Line (Integer'Image (Value));
end Types;
