--  What a task body may declare: constants, types, use clauses, instances, subprograms

with Ada.Text_IO;
with Ada.Numerics.Discrete_Random;

procedure Declarations is

   Size : constant := 4;

   task Dice is
      entry Roll (Value : out Positive);
      entry Last_Sum (Sum : out Natural);
   end Dice;

   task Stack is
      entry Push (Item : in Integer);
      entry Pop (Item : out Integer);
      entry Depth (N : out Natural);
   end Stack;

   task body Dice is
      subtype Face is Positive range 1 .. 6;
      package Faces is new Ada.Numerics.Discrete_Random (Face);
      use Faces;
      Source : Generator;
      Sum    : Natural := 0;
   begin
      Reset (Source, 42);
      loop
         select
            accept Roll (Value : out Positive) do
               Value := Random (Source);
               Sum := Sum + Value;
            end Roll;
         or
            accept Last_Sum (Sum : out Natural) do
               Sum := Dice.Sum;
            end Last_Sum;
         or
            terminate;
         end select;
      end loop;
   end Dice;

   task body Stack is
      Size : constant Positive := 10;  --  hides the outer one

      type Index is range 0 .. 10;
      subtype Slot is Index range 1 .. Index (Size);

      Items : array (Slot) of Integer;
      Top   : Index := 0;
      Name  : String := "stack";

      function Is_Full return Boolean is
      begin
         return Top = Index'Last;
      end Is_Full;

      procedure Put (Text : String) is
      begin
         Ada.Text_IO.Put_Line (Name & ": " & Text);
      end Put;

      function Doubled (N : Integer) return Integer is
      begin
         return 2 * N;
      end Doubled;
   begin
      loop
         select
            when not Is_Full =>
               accept Push (Item : in Integer) do
                  Top := Top + 1;
                  Items (Top) := Doubled (Item);
               end Push;
               if Is_Full then
                  Put ("full");
               end if;
         or
            when Top > 0 =>
               accept Pop (Item : out Integer) do
                  Item := Items (Top);
                  Top := Top - 1;
               end Pop;
         or
            accept Depth (N : out Natural) do
               N := Natural (Top);
            end Depth;
         or
            terminate;
         end select;
      end loop;
   end Stack;

   Value : Integer;
   Sum   : Natural := 0;
begin
   for I in 1 .. Size loop
      Dice.Roll (Value);
      Sum := Sum + Value;
   end loop;
   Dice.Last_Sum (Value);
   Ada.Text_IO.Put_Line (Boolean'Image (Sum = Value));
   for I in 1 .. 10 loop
      Stack.Push (I);
   end loop;
   for I in 1 .. 5 loop
      Stack.Pop (Value);
      Ada.Text_IO.Put_Line (Integer'Image (Value));
   end loop;
   Stack.Depth (Value);
   Ada.Text_IO.Put_Line (Integer'Image (Value));
end Declarations;
