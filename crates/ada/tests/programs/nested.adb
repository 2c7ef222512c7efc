--  Accepts inside accepts: parameters that meet, loops, selects, returns, requeues

with Ada.Text_IO; use Ada.Text_IO;

procedure Nested is

   --  The outer caller waits for an inner one, and their parameters meet
   task Exchange is
      entry Give (Item : in Integer; Partner : out Integer);
      entry Take (Item : in out Integer);
   end Exchange;

   task body Exchange is
      Meetings : Natural := 0;
   begin
      loop
         select
            accept Give (Item : in Integer; Partner : out Integer) do
               Meetings := Meetings + 1;
               Partner := -1;
               accept Take (Item : in out Integer) do
                  Partner := Item;
                  Item := Give.Item;
               end Take;
               Partner := Partner * 100 + Meetings;
            end Give;
         or
            terminate;
         end select;
      end loop;
   end Exchange;

   --  All wait for the last: the outer accept takes the others in a loop
   Members : constant := 3;

   task Gate is
      entry Open (Wanted : in Positive; Got : out Natural);
      entry Pass (Who : in Positive);
      entry Next;
   end Gate;

   task body Gate is
      Last : Natural := 0;
   begin
      loop
         accept Open (Wanted : in Positive; Got : out Natural) do
            Got := 0;
            for I in 1 .. Wanted loop
               accept Pass (Who : in Positive) do
                  Last := Who;
               end Pass;
               Got := Got + Last;
               if Got > 100 then
                  return;
               end if;
            end loop;
            accept Next;
            accept Next;
         end Open;
         Last := Last mod 2;
         exit when Last > Members;
      end loop;
   end Gate;

   --  Three levels, and a choice in the middle
   task Deep is
      entry A (X : out Integer);
      entry B (X : in Integer);
      entry C (X : in Integer; Y : out Integer);
      entry D;
   end Deep;

   task body Deep is
      Seen : Integer := 0;
   begin
      loop
         accept A (X : out Integer) do
            select
               accept B (X : in Integer) do
                  accept C (X : in Integer; Y : out Integer) do
                     Y := B.X + X;
                     Seen := Seen + Y;
                  end C;
                  Seen := Seen + X;
               end B;
               Seen := Seen + 1;
            or
               when Seen > 0 =>
                  accept D;
                  Seen := -Seen;
            end select;
            A.X := Seen;
         end A;
      end loop;
   end Deep;

   --  An else part inside an accept, and requeues of both callers
   task Desk is
      entry Ask (Number : in Positive; Answer : out Integer);
      entry Help (Hint : in Integer);
      entry Later (Number : in Positive; Answer : out Integer);
   end Desk;

   task body Desk is
      Best : Integer := 0;
   begin
      loop
         select
            accept Ask (Number : in Positive; Answer : out Integer) do
               if Number > 5 then
                  requeue Later;
               end if;
               select
                  accept Help (Hint : in Integer) do
                     Best := Hint;
                  end Help;
                  Answer := Best + Number;
               else
                  Answer := -Number;
               end select;
            end Ask;
            Best := Best + 1;
         or
            when Best > 1 =>
               accept Later (Number : in Positive; Answer : out Integer) do
                  accept Help (Hint : in Integer) do
                     if Hint < 0 then
                        requeue Help;
                     end if;
                     Best := Hint;
                  end Help;
                  Answer := Best * Number;
               end Later;
         or
            terminate;
         end select;
      end loop;
   end Desk;

   procedure Trade is

      task Giver;

      task body Giver is
         Partner : Integer;
      begin
         for I in 1 .. 3 loop
            Exchange.Give (I, Partner);
            Put_Line ("got" & Integer'Image (Partner));
         end loop;
      end Giver;

      Item : Integer;
   begin
      for I in 1 .. 3 loop
         Item := I * 7;
         Exchange.Take (Item);
         delay 0.02;
         Put_Line ("took" & Integer'Image (Item));
      end loop;
   end Trade;

   procedure Pass_All is

      task Opener;

      task body Opener is
         Got : Natural;
      begin
         Gate.Open (Members, Got);
         Put_Line ("passed" & Natural'Image (Got));
         Gate.Open (Members, Got);
         Put_Line ("passed" & Natural'Image (Got));
      end Opener;

   begin
      for I in 1 .. Members loop
         Gate.Pass (I);
      end loop;
      Gate.Next;
      Gate.Next;
      delay 0.02;
      Gate.Pass (200);
   end Pass_All;

   procedure Dive is

      task Outer;

      task body Outer is
         X : Integer;
      begin
         for I in 1 .. 2 loop
            Deep.A (X);
            Put_Line ("deep" & Integer'Image (X));
         end loop;
      end Outer;

      task Middle;

      task body Middle is
      begin
         Deep.B (10);
      end Middle;

      Y : Integer;
   begin
      Deep.C (5, Y);
      Put_Line ("sum" & Integer'Image (Y));
      Deep.D;
   end Dive;

   procedure Work is

      task Helper is
         entry Go;
      end Helper;

      task body Helper is
      begin
         accept Go;
         Desk.Help (9);
      end Helper;

      task Late;

      task body Late is
         Answer : Integer;
      begin
         Desk.Ask (6, Answer);
         Put_Line ("late" & Integer'Image (Answer));
      end Late;

      Answer : Integer;
   begin
      Desk.Ask (2, Answer);
      Put_Line ("answer" & Integer'Image (Answer));
      Helper.Go;
      delay 0.02;
      Desk.Ask (3, Answer);
      Put_Line ("answer" & Integer'Image (Answer));
      select
         Desk.Help (4);
      or
         delay 0.2;
         Put_Line ("nobody helped");
      end select;
   end Work;

begin
   Trade;
   Pass_All;
   Dive;
   Work;
end Nested;
