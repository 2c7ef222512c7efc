--  Terminate alternatives: what ends them is the unit that waits for the tasks

with Ada.Text_IO; use Ada.Text_IO;

procedure Ends is

   Wrong : exception;

   task Counter is
      entry Add (N : in Natural);
      entry Read (N : out Natural);
   end Counter;

   task Front is
      entry Add (N : in Natural);
   end Front;

   task body Front is
      Twice : Natural;
   begin
      loop
         select
            accept Add (N : in Natural) do
               Twice := 2 * N;
            end Add;
            Counter.Add (Twice);
         or
            terminate;
         end select;
      end loop;
   end Front;

   task body Counter is
      Sum : Natural := 0;
   begin
      loop
         select
            accept Add (N : in Natural) do
               Sum := Sum + N;
            end Add;
         or
            when Sum >= 30 =>
               accept Read (N : out Natural) do
                  N := Sum;
               end Read;
         or
            terminate;
         end select;
      end loop;
   end Counter;

   procedure Inner (Fails, Leaves : in Boolean) is
      task type Client;

      task Local is
         entry Go;
      end Local;

      Clients : array (1 .. 3) of Client;

      task body Client is
      begin
         Local.Go;
      end Client;

      task body Local is
         Goes : Natural := 0;
      begin
         loop
            select
               accept Go;
               Goes := Goes + 1;
               if Goes = 3 then
                  Put_Line ("all gone");
               end if;
            or
               terminate;
            end select;
         end loop;
      end Local;
   begin
      if Fails then
         raise Wrong;
      elsif Leaves then
         return;
      end if;
      Put_Line ("through");
   end Inner;

   Sum : Natural;
begin
   for I in 1 .. 5 loop
      Front.Add (I);
   end loop;
   Counter.Read (Sum);
   Put_Line (Natural'Image (Sum));
   Inner (Fails => False, Leaves => True);
   begin
      Inner (Fails => True, Leaves => False);
   exception
      when Wrong =>
         Put_Line ("wrong");
   end;
   Front.Add (100);
end Ends;
