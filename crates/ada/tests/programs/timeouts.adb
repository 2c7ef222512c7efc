--  Delay alternatives that do something: timing events take the place of the waiting task

with Ada.Calendar;
with Ada.Real_Time; use Ada.Real_Time;
with Ada.Text_IO; use Ada.Text_IO;

procedure Timeouts is

   --  The time starts again with each call that is served
   task Watchdog is
      entry Kick;
      entry Bites (N : out Natural);
      entry Stop;
   end Watchdog;

   task body Watchdog is
      Count : Natural := 0;
   begin
      loop
         select
            accept Kick;
         or
            accept Bites (N : out Natural) do
               N := Count;
            end Bites;
         or
            accept Stop;
            exit;
         or
            delay 0.5;
            Count := Count + 1;
         end select;
      end loop;
   end Watchdog;

   --  A server that gives up, a time that is computed, and one with a guard
   Patience : constant Duration := 0.1 + 0.2;

   task Session is
      entry Login (Name : in Character);
      entry Ask (Answer : out Integer);
      entry Leave;
   end Session;

   task body Session is
      User     : Character := ' ';
      Asked    : Natural := 0;
      Deadline : Time;
   begin
      accept Login (Name : in Character) do
         User := Name;
      end Login;
      Deadline := Clock + To_Time_Span (Patience);
      loop
         select
            when Asked < 2 =>
               accept Ask (Answer : out Integer) do
                  Asked := Asked + 1;
                  Answer := Character'Pos (User) + Asked;
               end Ask;
         or
            accept Leave;
            exit;
         or
            when Asked > 0 =>
               delay until Deadline;
               Asked := 0;
               Deadline := Deadline + To_Time_Span (Patience);
         end select;
      end loop;
      select
         accept Login (Name : in Character) do
            User := Name;
         end Login;
      or
         delay Patience;
         Put_Line ("nobody came back");
      end select;
   end Session;

   --  Until a time of the calendar, inside an accept
   task Booking is
      entry Reserve (Seats : in Positive; Done : out Boolean);
      entry Confirm;
   end Booking;

   task body Booking is
      use type Ada.Calendar.Time;
   begin
      loop
         select
            accept Reserve (Seats : in Positive; Done : out Boolean) do
               Done := Seats < 10;
               if Done then
                  select
                     accept Confirm;
                  or
                     delay until Ada.Calendar.Clock + 0.2;
                     Done := False;
                  end select;
               end if;
            end Reserve;
         or
            terminate;
         end select;
      end loop;
   end Booking;

   procedure Reserve_Two is

      task Customer;

      task body Customer is
         Done : Boolean;
      begin
         for I in 1 .. 3 loop
            Booking.Reserve (I * 4, Done);
            Put_Line ("reserved " & Boolean'Image (Done));
         end loop;
      end Customer;

   begin
      Booking.Confirm;
   end Reserve_Two;

   N      : Natural;
   Answer : Integer;
begin
   for I in 1 .. 4 loop
      delay 0.2;
      Watchdog.Kick;
   end loop;
   Watchdog.Bites (N);
   Put_Line ("bites" & Natural'Image (N));
   delay 0.8;
   Watchdog.Bites (N);
   Put_Line ("bites" & Natural'Image (N));

   Watchdog.Stop;

   Session.Login ('A');
   for I in 1 .. 4 loop
      Session.Ask (Answer);
      Put_Line ("answer" & Integer'Image (Answer));
   end loop;
   Session.Leave;
   delay 0.8;
   begin
      Session.Login ('B');
      Put_Line ("logged in again");
   exception
      when Tasking_Error =>
         Put_Line ("the session is over");
   end;

   Reserve_Two;
end Timeouts;
