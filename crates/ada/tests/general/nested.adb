--  Dining philosophers as a table: accepts inside accepts, and requeues

with Ada.Text_IO; use Ada.Text_IO;

procedure Nested is

   task Exchange is
      entry Give (X : in Integer; Back : out Integer);
      entry Take (X : in out Integer);
      entry Stop;
   end Exchange;

   task body Exchange is
      Rounds : Natural := 0;
   begin
      loop
         select
            accept Give (X : in Integer; Back : out Integer) do
               accept Take (X : in out Integer) do
                  Back := X;
                  X := Give.X + X - X;
               end Take;
               Rounds := Rounds + 1;
            end Give;
         or
            accept Stop;
            Put_Line ("rounds" & Natural'Image (Rounds));
            exit;
         end select;
      end loop;
   end Exchange;

   task Taker;
   task body Taker is
      X : Integer;
   begin
      for I in 1 .. 5 loop
         X := I;
         Exchange.Take (X);
         if X /= 10 * I then
            Put_Line ("wrong" & Integer'Image (X));
         end if;
      end loop;
   end Taker;

   Back : Integer;
begin
   for I in 1 .. 5 loop
      Exchange.Give (X => 10 * I, Back => Back);
      Put_Line ("back" & Integer'Image (Back));
   end loop;
   Exchange.Stop;
end Nested;
