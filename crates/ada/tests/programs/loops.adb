--  For, while and nested loops around accepts, with ifs between them

with Ada.Text_IO; use Ada.Text_IO;

procedure Loops is

   type Colour is (Red, Green, Blue);

   Rounds : constant := 3;

   task Server is
      entry Begin_Round (Number : out Positive);
      entry Paint (C : in Colour);
      entry Bonus (Points : in out Natural);
      entry Total (Points : out Natural);
   end Server;

   task body Server is
      Points  : Natural := 0;
      Painted : array (Colour) of Natural := (others => 0);
   begin
      for Round in 1 .. Rounds loop
         accept Begin_Round (Number : out Positive) do
            Number := Round;
         end Begin_Round;

         for C in Colour loop
            accept Paint (C : in Colour) do
               Painted (C) := Painted (C) + Round;
            end Paint;
            --  Every second colour gives points
            if Colour'Pos (C) mod 2 = 0 then
               Points := Points + 1;
            end if;
         end loop;

         if Round mod 2 = 0 then
            accept Bonus (Points : in out Natural) do
               Points := Points + Round;
            end Bonus;
         else
            Points := Points + 10;
         end if;
      end loop;

      while Points > 30 loop
         accept Bonus (Points : in out Natural) do
            Points := Points - 1;
            Server.Points := Server.Points - 2;
         end Bonus;
      end loop;

      accept Total (Points : out Natural) do
         Points := Server.Points + Painted (Green);
      end Total;
   end Server;

   Number : Positive;
   Points : Natural := 100;
begin
   for I in 1 .. Rounds loop
      Server.Begin_Round (Number);
      Put_Line ("round" & Positive'Image (Number));
      for C in reverse Colour loop
         Server.Paint (C);
      end loop;
      if Number mod 2 = 0 then
         Server.Bonus (Points);
      end if;
   end loop;
   Server.Total (Number);
   Put_Line ("total" & Integer'Image (Number) & Integer'Image (Points));
end Loops;
