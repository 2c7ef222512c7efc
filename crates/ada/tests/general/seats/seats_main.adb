with Seats; use Seats;
with Ada.Text_IO; use Ada.Text_IO;

procedure Seats_Main is

   task type Guest (Where : Side);

   task body Guest is
      Pair : Positive;
   begin
      Hall.Enter (Where, Pair);
      Put_Line ("pair" & Positive'Image (Pair));
      Hall.Leave (Where);
   end Guest;

begin
   for I in 1 .. 3 loop
      declare
         L : Guest (Left);
         R : Guest (Right);
         pragma Unreferenced (L, R);
      begin
         null;
      end;
   end loop;
end Seats_Main;
