with Ada.Text_IO; use Ada.Text_IO;
with Depots;      use Depots;

procedure Forward_Main is

   N : Natural;

   task Gate is
      entry Pass (Number : out Natural);
      entry Shut;
      entry Unlock;
   end Gate;

   --  Only the task uses it.
   Is_Locked : Boolean := False;

   --  Needed by the task, and declared behind it
   type Guests is array (1 .. 3) of Natural;

   task body Gate is
      Past : Guests := (others => 0);
   begin
      loop
         select
            when not Is_Locked =>
               accept Pass (Number : out Natural) do
                  Past (1) := Past (1) + 1;
                  Number := Past (1);
               end Pass;
         or
            accept Shut;
            Is_Locked := True;
         or
            accept Unlock;
            Is_Locked := False;
         or
            terminate;
         end select;
      end loop;
   end Gate;

begin
   Depot.Put (7);
   Depot.Put (8);
   Depot.Take (N);
   Put_Line (Natural'Image (N));
   Ledger.Note (5);
   Ledger.Note (6);
   Ledger.Sum (N);
   Put_Line (Natural'Image (N));
   Gate.Pass (N);
   Gate.Shut;
   select
      Gate.Pass (N);
   or
      delay 0.01;
      Put_Line ("locked");
   end select;
   Gate.Unlock;
   Gate.Pass (N);
   Put_Line (Natural'Image (N));
end Forward_Main;
