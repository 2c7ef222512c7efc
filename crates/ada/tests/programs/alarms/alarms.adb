with Ada.Text_IO; use Ada.Text_IO;
with Watch;

--  Timing events of library-level objects, of a type, and inside a family

procedure Alarms is

   procedure Cross (Toll : in Natural; Coins : in Natural) is

      task Walker;

      task body Walker is
         Change : Integer;
      begin
         Watch.Bridge.Enter (1) (Toll, Change);
         Put_Line ("change" & Integer'Image (Change));
      end Walker;

   begin
      for I in 1 .. Coins loop
         Watch.Bridge.Pay (3 * I);
      end loop;
   end Cross;

   type Dog_Name is access Watch.Dog;

   Rex    : Dog_Name;
   Change : Integer;
   Howls  : Natural;
begin
   Cross (8, 2);
   Cross (8, 1);
   Cross (0, 0);
   Cross (2, 1);
   Watch.Bridge.Enter (2) (7, Change);
   Put_Line ("change" & Integer'Image (Change));
   declare
      Fido : Watch.Dog (5_000);
   begin
      Rex := new Watch.Dog (300);
      Fido.Start ('F');
      Rex.Start ('R');
      Fido.Feed;
      delay 0.5;
      Rex.Ask (Howls);
      Put_Line ("howls" & Natural'Image (Howls));
      Fido.Ask (Howls);
      Put_Line ("howls" & Natural'Image (Howls));
      Fido.Stop;
      Rex.Stop;
   end;
end Alarms;
