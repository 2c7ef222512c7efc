--  Guards that read what is declared outside the task.

with Ada.Text_IO; use Ada.Text_IO;

procedure Limits is

   --  Never changed: the translation says so.
   Capacity : Integer := 3;

   --  Changed by the server alone, and read by others.
   Used : Integer := 0;

   task Stock is
      entry Put (X : Integer);
      entry Get (X : out Integer);
   end Stock;

   --  Kept: its state is not its own.
   task Ration is
      entry Take (Left : out Integer);
   end Ration;

   task body Stock is
      Content : array (1 .. 9) of Integer;
      Count   : Natural := 0;
   begin
      loop
         select
            when Count < Capacity =>
               accept Put (X : Integer) do
                  Count := Count + 1;
                  Content (Count) := X;
               end Put;
         or
            when Count > 0 =>
               accept Get (X : out Integer) do
                  X := Content (Count);
                  Count := Count - 1;
               end Get;
         or
            terminate;
         end select;
      end loop;
   end Stock;

   task body Ration is
   begin
      loop
         select
            when Used < Capacity =>
               accept Take (Left : out Integer) do
                  Used := Used + 1;
                  Left := Capacity - Used;
               end Take;
         or
            terminate;
         end select;
      end loop;
   end Ration;

   X : Integer;
begin
   for I in 1 .. Capacity loop
      Stock.Put (I);
   end loop;
   select
      Stock.Put (4);
      Put_Line ("too much");
   else
      Put_Line ("full");
   end select;
   Stock.Get (X);
   Put_Line (X'Image);
   Ration.Take (X);
   Put_Line (X'Image);
   Put_Line (Used'Image);
end Limits;
