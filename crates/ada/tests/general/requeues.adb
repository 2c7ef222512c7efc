--  Requeue to entries of the same task and of another, families, returns from the middle

with Ada.Text_IO; use Ada.Text_IO;

procedure Requeues is

   type Kind is (Plain, Special);

   task Log is
      entry Note (N : in Integer);
      entry Stop;
   end Log;

   task Desk is
      entry Ask (N : in Integer);
      entry Later (N : in Integer);
      entry Member (Kind) (N : in Integer; Answer : out Integer);
      entry Stop;
   end Desk;

   task body Log is
      Sum : Integer := 0;
   begin
      loop
         select
            accept Note (N : in Integer) do
               Sum := Sum + N;
            end Note;
         or
            accept Stop do
               Put_Line ("sum" & Integer'Image (Sum));
            end Stop;
            exit;
         end select;
      end loop;
   end Log;

   task body Desk is
      Seen : Natural := 0;
   begin
      loop
         select
            accept Ask (N : in Integer) do
               Seen := Seen + 1;
               if N < 0 then
                  return;
               elsif N mod 2 = 0 then
                  requeue Later with abort;
               end if;
               requeue Log.Note;
            end Ask;
         or
            when Seen > 3 =>
               accept Later (N : in Integer) do
                  Put_Line ("later" & Integer'Image (N));
               end Later;
               Seen := 0;
         or
            accept Member (Special) (N : in Integer; Answer : out Integer) do
               Answer := N * N;
            end Member;
            accept Member (Kind'First) (N : in Integer; Answer : out Integer) do
               Answer := N + N + Member (Special)'Count;
            end Member;
         or
            accept Stop do
               requeue Log.Stop with abort;
            end Stop;
            exit;
         end select;
      end loop;
   end Desk;

   task Asker;
   task body Asker is
   begin
      Desk.Ask (2);
      Put_Line ("asked");
   end Asker;

   Answer : Integer;
begin
   while not Asker'Callable loop
      delay 0.001;
   end loop;
   delay 0.05;
   Desk.Ask (-1);
   Desk.Ask (3);
   Desk.Ask (5);
   while Asker'Callable loop
      delay 0.001;
   end loop;
   Desk.Member (Special) (7, Answer);
   Put_Line (Integer'Image (Answer));
   select
      Desk.Member (Special) (7, Answer);
      Put_Line ("special");
   else
      Put_Line ("not special");
   end select;
   Desk.Member (Plain) (7, Answer);
   Put_Line (Integer'Image (Answer));
   Desk.Stop;
end Requeues;
