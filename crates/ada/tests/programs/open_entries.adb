--  Entries that are always open: procedures, where the callers allow it

pragma Assertion_Policy (Check);

with Ada.Text_IO; use Ada.Text_IO;

procedure Open_Entries is

   Limit : constant Integer := 50;

   --  Counts, and is called by another server
   task Counter is
      entry Add (N : in Natural);
      entry Read (N : out Natural);
      --  Stays an entry: a call of it is conditional.
      entry Try (N : out Natural);
      --  Stays an entry: a call is requeued to it.
      entry Again (N : in Natural);
   end Counter;

   task body Counter is
      Sum : Natural := 0;
   begin
      loop
         select
            accept Add (N : in Natural) do
               Sum := Sum + N;
            end Add;
         or
            accept Read (N : out Natural) do
               N := Sum;
            end Read;
         or
            accept Try (N : out Natural) do
               N := Sum + 1;
            end Try;
         or
            accept Again (N : in Natural) do
               Sum := Sum + 2 * N;
            end Again;
         or
            terminate;
         end select;
      end loop;
   end Counter;

   --  Contracts go with their entries.
   task Checked is
      entry Add (N : in Natural)
        with Pre => N < Limit;
      entry Wait (N : out Natural)
        with Post => N < Limit + 1;
   end Checked;

   task body Checked is
      Sum : Natural := 0;
   begin
      loop
         select
            accept Add (N : in Natural) do
               Sum := Sum + N;
            end Add;
         or
            when Sum > 0 =>
               accept Wait (N : out Natural) do
                  N := Sum;
               end Wait;
         or
            terminate;
         end select;
      end loop;
   end Checked;

   --  Calls the other server in its accepts, through a subprogram too
   task Front is
      entry Put (N : in Natural);
      entry Pass (N : in Natural);
      entry Total (N : out Natural);
      entry Late (N : in Natural);
      entry Full (Is_Full : out Boolean);
   end Front;

   procedure Put_Twice (N : in Natural) is
   begin
      Counter.Add (N);
      Counter.Add (N);
   end Put_Twice;

   task body Front is
      Calls : Natural := 0;
   begin
      loop
         select
            accept Put (N : in Natural) do
               Counter.Add (N);
            end Put;
            Calls := Calls + 1;
         or
            --  Its body requeues: stays an entry.
            accept Pass (N : in Natural) do
               requeue Counter.Again;
            end Pass;
         or
            accept Total (N : out Natural) do
               Put_Twice (1);
               Counter.Read (N);
            end Total;
         or
            --  Stays an entry: its calls are timed, under another name.
            accept Late (N : in Natural) do
               Calls := Calls + N;
            end Late;
         or
            when Late'Count = 0 =>
               accept Full (Is_Full : out Boolean) do
                  Is_Full := Calls > 3;
               end Full;
         or
            terminate;
         end select;
      end loop;
   end Front;

   procedure Later (N : in Natural) renames Front.Late;
   procedure Put (N : in Natural) renames Front.Put;

   generic
      with procedure Act (N : in Natural);
   procedure Twice;

   procedure Twice is
   begin
      Act (3);
      Act (4);
   end Twice;

   procedure Add_Twice is new Twice (Counter.Add);

   N       : Natural;
   Is_Full : Boolean;

begin
   Put (5);
   Front.Put (6);
   Front.Pass (7);
   Add_Twice;
   Front.Total (N);
   Put_Line (Natural'Image (N));
   select
      Later (2);
      Put_Line ("in time");
   or
      delay 10.0;
      Put_Line ("late");
   end select;
   Front.Full (Is_Full);
   Put_Line (Boolean'Image (Is_Full));
   select
      Counter.Try (N);
      Put_Line (Natural'Image (N));
   or
      delay 10.0;
      Put_Line ("busy");
   end select;
   Checked.Add (Limit - 1);
   Checked.Wait (N);
   Put_Line (Natural'Image (N));
   Counter.Read (N);
   Put_Line (Natural'Image (N));
end Open_Entries;
