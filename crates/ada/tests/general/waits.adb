--  Delay and else alternatives; timed and conditional calls, which expire until they are accepted and not after

with Ada.Text_IO; use Ada.Text_IO;

procedure Waits is

   task Slow is
      entry Work (N : in Positive);
      entry Quick;
      entry Poke (N : in out Natural);
      entry Report (Late : out Boolean; Queued : out Natural);
      entry Stop;
   end Slow;

   task body Slow is
      Late : Boolean := False;
      Idle : Natural := 0;
      Is_Open : Boolean := False;
   begin
      loop
         select
            when Is_Open =>
               accept Quick;
               Is_Open := False;
         or
            accept Work (N : in Positive) do
               delay 0.02 * N;
               Is_Open := True;
            end Work;
         or
            accept Report (Late : out Boolean; Queued : out Natural) do
               Report.Late := Slow.Late;
               Queued := Quick'Count;
            end Report;
         or
            accept Stop;
            exit;
         or
            delay 0.01;
            Late := True;
         end select;
         select
            when Is_Open =>
               accept Poke (N : in out Natural) do
                  N := N + 1;
               end Poke;
         else
            Idle := Idle + 1;
         end select;
      end loop;
   end Slow;

   task Poker;
   task body Poker is
      N : Natural := 0;
   begin
      for I in 1 .. 3 loop
         Slow.Poke (N);
      end loop;
      Put_Line ("poked" & Natural'Image (N));
   end Poker;

   Late : Boolean;
   Queued : Natural;
begin
   delay 0.1;
   --  Accepted at once, this outlasts its time-out and must not be cancelled.
   select
      Slow.Work (5);
      Put_Line ("worked");
   or
      delay 0.01;
      Put_Line ("cancelled");
   end select;
   while not Poker'Terminated loop
      delay 0.001;
   end loop;
   select
      Slow.Quick;
      Put_Line ("quick");
   or
      delay 5.0;
      Put_Line ("late");
   end select;
   select
      Slow.Quick;
      Put_Line ("quick");
   or
      delay 0.05;
      Put_Line ("late");
   end select;
   Slow.Report (Late, Queued);
   Put_Line (Boolean'Image (Late) & Natural'Image (Queued));
   select
      Slow.Quick;
      Put_Line ("quick");
   else
      Put_Line ("not quick");
   end select;
   Slow.Stop;
   Slow.Quick;
exception
   when Tasking_Error =>
      Put_Line ("gone");
end Waits;
