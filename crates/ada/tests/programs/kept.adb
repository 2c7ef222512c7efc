--  Tasks that must stay tasks, each for a reason of its own

with Ada.Text_IO; use Ada.Text_IO;

procedure Kept is

   Limit : Natural := 1;

   task Periodic is
      entry Stop;
   end Periodic;

   task body Periodic is
      Ticks : Natural := 0;
   begin
      loop
         select
            accept Stop;
            exit;
         or
            delay 0.01;
            Ticks := Ticks + 1;
         end select;
      end loop;
   end Periodic;

   task Beside is
      entry Work (N : in Natural);
   end Beside;

   task body Beside is
      Todo : Natural;
   begin
      loop
         select
            accept Work (N : in Natural) do
               Todo := N;
            end Work;
         or
            terminate;
         end select;
         while Todo > 0 loop
            Todo := Todo - 1;
         end loop;
      end loop;
   end Beside;

   task Sleeper is
      entry Wake;
   end Sleeper;

   task body Sleeper is
   begin
      loop
         select
            accept Wake do
               delay 0.01;
            end Wake;
         or
            terminate;
         end select;
      end loop;
   end Sleeper;

   task Forwarder is
      entry Send (N : in Natural);
   end Forwarder;

   task body Forwarder is
   begin
      loop
         select
            accept Send (N : in Natural) do
               Beside.Work (N);
            end Send;
         or
            terminate;
         end select;
      end loop;
   end Forwarder;

   task Watched is
      entry Ask;
   end Watched;

   task body Watched is
   begin
      accept Ask;
   end Watched;

   task Limited_By_Others is
      entry Take;
   end Limited_By_Others;

   task body Limited_By_Others is
   begin
      loop
         select
            when Limit > 0 =>
               accept Take;
         or
            terminate;
         end select;
      end loop;
   end Limited_By_Others;

   task Worker is
      entry Start (Id : in Positive);
   end Worker;

   task body Worker is
      Me : Positive;
   begin
      accept Start (Id : in Positive) do
         Me := Id;
      end Start;
      for I in 1 .. 3 loop
         Put_Line ("worker" & Positive'Image (Me) & Integer'Image (I));
      end loop;
   end Worker;

   task type Counter is
      entry Count;
   end Counter;

   task body Counter is
   begin
      loop
         accept Count;
      end loop;
   end Counter;

   Counters : array (1 .. 2) of Counter;

begin
   for Each in Counters'Range loop
      Counters (Each).Count;
      abort Counters (Each);
   end loop;
   Worker.Start (1);
   Forwarder.Send (3);
   Sleeper.Wake;
   Limit := 2;
   Limited_By_Others.Take;
   Watched.Ask;
   while not Watched'Terminated loop
      delay 0.001;
   end loop;
   Periodic.Stop;
   Put_Line ("done");
end Kept;
