--  Alternatives that only poll, a start with output, a loop that waits for all in turn

with Ada.Text_IO; use Ada.Text_IO;

procedure Polling is

   task Counter is
      entry Up;
      entry Read (N : out Natural);
      entry Stop;
   end Counter;

   task body Counter is
      N       : Natural := 0;
      Is_Over : Boolean := False;
   begin
      Put_Line ("counting");
      while not Is_Over loop
         select
            accept Up do
               N := N + 1;
            end Up;
         or
            accept Read (N : out Natural) do
               N := Counter.N;
            end Read;
         or
            accept Stop do
               Is_Over := True;
            end Stop;
         else
            null;
         end select;
      end loop;
      Put_Line ("counted");
   end Counter;

   Turns : constant := 3;

   task Turnstile is
      entry Enter;
      entry Leave (Who : out Positive);
   end Turnstile;

   task body Turnstile is
      Visitor : Positive := 1;
   begin
      loop
         declare
            Number : constant Positive := Visitor * 10;
            Twice  : Positive := Number;
         begin
            for I in reverse 1 .. Turns loop
               accept Enter;
               Twice := Twice + I;
            end loop;
            accept Leave (Who : out Positive) do
               Who := Number + Twice;
            end Leave;
         end;
         Visitor := Visitor + 1;
      end loop;
   end Turnstile;

   N : Natural;
begin
   for I in 1 .. 5 loop
      Counter.Up;
   end loop;
   Counter.Read (N);
   Put_Line (Natural'Image (N));
   Counter.Stop;
   for I in 1 .. 2 loop
      for T in 1 .. Turns loop
         select
            Turnstile.Enter;
         or
            delay 1.0;
            Put_Line ("too late");
         end select;
      end loop;
      Turnstile.Leave (N);
      Put_Line (Natural'Image (N));
   end loop;
   select
      Counter.Up;
      Put_Line ("up?");
   or
      delay 0.01;
      Put_Line ("late");
   end select;
exception
   when Tasking_Error =>
      Put_Line ("the counter is gone");
end Polling;
