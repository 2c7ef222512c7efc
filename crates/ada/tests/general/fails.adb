--  Exceptions reach caller and acceptor; a task that completes gives Tasking_Error

with Ada.Text_IO; use Ada.Text_IO;

procedure Fails is

   Wrong : exception;

   task Divider is
      entry Divide (A, B : in Integer; Q : out Integer);
      entry Check (A : in Integer);
   end Divider;

   task body Divider is
      Failed : Natural := 0;
   begin
      loop
         begin
            select
               accept Divide (A, B : in Integer; Q : out Integer) do
                  Q := 0;
                  Q := A / B;
               end Divide;
            or
               accept Check (A : in Integer) do
                  if A > 1 then
                     raise Wrong with "more than one";
                  end if;
               exception
                  when Wrong =>
                     Put_Line ("checked");
                     raise;
               end Check;
            end select;
         exception
            when Constraint_Error =>
               Failed := Failed + 1;
               Put_Line ("failed" & Natural'Image (Failed));
         end;
      end loop;
   exception
      when Wrong =>
         Put_Line ("over");
   end Divider;

   Q : Integer;
begin
   Divider.Divide (12, 4, Q);
   Put_Line (Integer'Image (Q));
   begin
      Divider.Divide (12, Q - Q, Q);
   exception
      when Constraint_Error =>
         delay 0.02;
         Put_Line ("caller too");
   end;
   Divider.Check (1);
   begin
      Divider.Check (2);
   exception
      when Wrong =>
         delay 0.02;
         Put_Line ("wrong");
   end;
   Divider.Check (3);
exception
   when Tasking_Error =>
      Put_Line ("gone");
end Fails;
