--  Under Ceiling_Locking an object has the highest priority of its callers

pragma Locking_Policy (Ceiling_Locking);
pragma Task_Dispatching_Policy (FIFO_Within_Priorities);

with Ada.Text_IO; use Ada.Text_IO;

procedure Ceilings is

   pragma Priority (5);

   High : constant := 12;

   task Counter is
      pragma Priority (20);
      entry Add (N : in Natural);
      entry Read (Sum : out Natural);
   end Counter;

   task body Counter is
      Total : Natural := 0;
   begin
      loop
         select
            accept Add (N : in Natural) do
               Total := Total + N;
            end Add;
         or
            accept Read (Sum : out Natural) do
               Sum := Total;
            end Read;
         or
            terminate;
         end select;
      end loop;
   end Counter;

   --  Called by a task whose priority is a discriminant: the default
   task Bell is
      entry Ring;
   end Bell;

   task body Bell is
      Rings : Natural := 0;
   begin
      loop
         select
            accept Ring;
            Rings := Rings + 1;
         or
            terminate;
         end select;
      end loop;
   end Bell;

   --  A handler of timing events needs the highest ceiling there is
   task Patient is
      entry Poke;
   end Patient;

   task body Patient is
      Pokes : Natural := 0;
   begin
      loop
         select
            accept Poke;
            Pokes := Pokes + 1;
         or
            delay 0.15;
            exit;
         end select;
      end loop;
   end Patient;

   procedure Work is

      task type Adder is
         pragma Priority (High);
      end Adder;

      task type Ringer (Level : Natural) is
         pragma Priority (Level);
      end Ringer;

      task body Adder is
      begin
         for I in 1 .. 4 loop
            Counter.Add (I);
         end loop;
      end Adder;

      task body Ringer is
      begin
         Bell.Ring;
      end Ringer;

      Adders : array (1 .. 3) of Adder;
      First  : Ringer (7);
      Second : Ringer (9);
      pragma Unreferenced (Adders, First, Second);
   begin
      Patient.Poke;
   end Work;

   Sum : Natural;
begin
   Work;
   Counter.Read (Sum);
   Put_Line (Natural'Image (Sum));
   delay 0.5;
   Patient.Poke;
   Put_Line ("still there");
exception
   when Tasking_Error =>
      Put_Line ("gone");
end Ceilings;
