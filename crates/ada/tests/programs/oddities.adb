--  Servers with habits that are rare: arrays by a discriminant, loops in loops, counts in bounds,
--  pragmas between alternatives, labels at the end.
with Ada.Text_IO; use Ada.Text_IO;

procedure Oddities is

   --  A dimension that no discriminant bounds stays.
   task type Grid (Size : Positive) is
      entry Set (R, C : Positive);
      entry Get (R, C : Positive; Is_Set : out Boolean);
   end Grid;

   task body Grid is
      M : array (Boolean, Positive range 1 .. Size) of Boolean := (others => (others => False));
   begin
      loop
         select
            accept Set (R, C : Positive) do
               M (R = 1, C) := True;
            end Set;
         or
            accept Get (R, C : Positive; Is_Set : out Boolean) do
               Is_Set := M (R = 1, C);
            end Get;
         or
            terminate;
         end select;
      end loop;
   end Grid;

   G : Grid (3);

   --  Two loops with one parameter, in a third.
   task Barrier is
      entry Arrive;
      entry Leave;
   end Barrier;

   task body Barrier is
   begin
      for Round in 1 .. 2 loop
         for I in 1 .. 3 loop
            accept Arrive;
         end loop;
         for I in 1 .. 3 loop
            accept Leave;
         end loop;
      end loop;
   end Barrier;

   --  Bounds that the task counts itself.
   task Gate is
      entry Pass;
      entry Open (Let : out Natural);
   end Gate;

   task body Gate is
      Spare : Integer;
   begin
      Spare := 2;
      loop
         select
            accept Open (Let : out Natural) do
               Let := Pass'Count;
            end Open;
            for I in Integer range 1 .. Pass'Count loop
               accept Pass;
            end loop;
         or
            terminate;
         end select;
      end loop;
   end Gate;

   --  Bounds of an array that is declared after the task.
   task Listener is
      entry Hear (Text : String);
   end Listener;

   type Ring is array (1 .. 4) of Integer;
   Data : Ring := (others => 0);

   task body Listener is
   begin
      for I in Data'Range loop
         accept Hear (Text : String) do
            Data (I) := Text'Length;
         end Hear;
      end loop;
   end Listener;

   --  A server type and its object in one package.
   package Stores is
      task type Store is
         entry Put (Item : Integer);
         entry Sum (Item : out Integer);
      end Store;
      S : Store;
   end Stores;

   package body Stores is
      task body Store is
         Total : Integer := 0;
      begin
         loop
            select
               pragma Style_Checks (Off);
               accept Put (Item : Integer) do
                  if Item = 0 then
                     goto Done;
                  end if;
                  Total := Total + Item;
                  <<Done>> null;
               end Put;
            or
               accept Sum (Item : out Integer) do
                  Item := Total;
               end Sum;
            or
               terminate;
            end select;
         end loop;
      end Store;
   end Stores;

   Let    : Natural;
   Sum    : Integer;
   Is_Set : Boolean;
begin
   case Data'Length is
      pragma Style_Checks (On);
      when 4 => null;
      when others => Put_Line ("never");
   end case;
   G.Set (1, 2);
   G.Get (1, 2, Is_Set);
   Put_Line ("set: " & Boolean'Image (Is_Set));
   G.Get (2, 2, Is_Set);
   Put_Line ("set: " & Boolean'Image (Is_Set));
   for Round in 1 .. 2 loop
      for I in 1 .. 3 loop
         Barrier.Arrive;
      end loop;
      for I in 1 .. 3 loop
         Barrier.Leave;
      end loop;
   end loop;
   Gate.Open (Let);
   Put_Line ("let through:" & Natural'Image (Let));
   for I in Data'Range loop
      Listener.Hear ((1 .. I => 'x'));
   end loop;
   for I in Data'Range loop
      Stores.S.Put (Data (I));
   end loop;
   Stores.S.Put (0);
   Stores.S.Sum (Sum);
   Put_Line ("sum:" & Integer'Image (Sum));
end Oddities;
