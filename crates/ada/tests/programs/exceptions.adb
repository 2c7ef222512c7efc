--  Exceptions in accepts: handled inside, by the task, and by nobody

with Ada.Text_IO; use Ada.Text_IO;

procedure Exceptions is

   Wrong, Fatal : exception;

   task Careful is
      entry Divide (A, B : in Integer; Q : out Integer);
      entry Stop;
   end Careful;

   task body Careful is
      Failures : Natural := 0;
   begin
      loop
         begin
            select
               accept Divide (A, B : in Integer; Q : out Integer) do
                  if B = 0 then
                     raise Wrong;
                  elsif B < 0 then
                     raise Fatal;
                  end if;
                  Q := A / B;
               exception
                  when Constraint_Error =>
                     Q := 0;
               end Divide;
            or
               accept Stop;
               exit;
            end select;
         exception
            when Wrong =>
               Failures := Failures + 1;
               Put_Line ("failures:" & Natural'Image (Failures));
         end;
      end loop;
   exception
      when Fatal =>
         Put_Line ("the server gives up");
   end Careful;

   task Careless is
      entry Check (N : in Integer);
   end Careless;

   task body Careless is
   begin
      loop
         accept Check (N : in Integer) do
            if N > 2 then
               raise Wrong;
            end if;
         end Check;
      end loop;
   end Careless;

   Q : Integer;
begin
   for B in reverse -1 .. 2 loop
      begin
         Careful.Divide (10, B, Q);
         Put_Line ("quotient" & Integer'Image (Q));
      exception
         when Wrong =>
            Put_Line ("wrong");
         when Fatal =>
            Put_Line ("fatal");
      end;
   end loop;
   begin
      Careful.Stop;
      Put_Line ("stopped");
   exception
      when Tasking_Error =>
         Put_Line ("already over");
   end;
   for N in 1 .. 4 loop
      begin
         Careless.Check (N);
         Put_Line ("checked" & Integer'Image (N));
      exception
         when Wrong =>
            Put_Line ("wrong" & Integer'Image (N));
         when Tasking_Error =>
            Put_Line ("nobody checks" & Integer'Image (N));
      end;
   end loop;
end Exceptions;
