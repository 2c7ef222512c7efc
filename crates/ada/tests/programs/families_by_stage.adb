--  Members of a family at several stages, and comments that explain loops

with Ada.Text_IO; use Ada.Text_IO;

procedure Families_By_Stage is

   task Server is
      entry Ask (1 .. 4) (N : in out Natural);
      entry Ring;
   end Server;

   task body Server is
      Sum : Natural := 0;
   begin
      --  Three bells first
      for I in 1 .. 3 loop
         accept Ring;
         Sum := Sum + I;
      end loop;
      --  Then one question by anybody
      select
         accept Ask (1) (N : in out Natural) do
            N := N + 1;
         end Ask;
      or
         accept Ask (2) (N : in out Natural) do
            N := N + 2;
         end Ask;
      end select;
      --  Then all that may come
      loop
         select
            accept Ask (1) (N : in out Natural) do
               N := N + 10 + Sum;
            end Ask;
         or
            accept Ask (2) (N : in out Natural) do
               N := N + 20;
            end Ask;
         or
            accept Ask (3) (N : in out Natural) do
               N := N + 20;
            end Ask;
         or
            terminate;
         end select;
      end loop;
   end Server;

   N : Natural := 0;

begin
   for I in 1 .. 3 loop
      Server.Ring;
   end loop;
   Server.Ask (2) (N);
   for I in 1 .. 3 loop
      Server.Ask (I) (N);
      Put_Line (Natural'Image (N));
   end loop;
end Families_By_Stage;
