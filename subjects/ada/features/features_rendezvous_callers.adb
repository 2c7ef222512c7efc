with Features_Rendezvous_Acceptors;
with Features_Rendezvous_Calls;
with Features_Tally;
with Features_Team;

package body Features_Rendezvous_Callers is

   use Kit;

   procedure Count_Only (Count : Iterations; Sum : out Checksum);
   procedure Call_Simple (Count : Iterations; Sum : out Checksum);
   --  What each caller does

   ----------------
   -- Contention --
   ----------------

   package body Contention is

      procedure Prepare (Arg : Argument) is
      begin
         Features_Rendezvous_Acceptors.Simple.Prepare (Arg);
         Features_Team.Gather (Callers);
      end Prepare;

      procedure Finish (Arg : Argument) is
      begin
         Features_Team.Dismiss;
         Features_Rendezvous_Acceptors.Simple.Finish (Arg);
      end Finish;

   end Contention;

   ----------------
   -- Count_Only --
   ----------------

   procedure Count_Only (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      Sum := 0;
      while Index < Count loop
         Sum := Sum + 1;
         Increment (Index);
      end loop;
   end Count_Only;

   -----------------
   -- Call_Simple --
   -----------------

   procedure Call_Simple (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Count loop
         Features_Rendezvous_Calls.Call_Simple;
         Increment (Index);
      end loop;
      Sum := 0; --  the acceptor tallies
   end Call_Simple;

   -------------
   -- Control --
   -------------

   procedure Control (Count : Iterations; Sum : out Checksum) is
   begin
      Features_Team.Run (Count_Only'Access, Count, Sum);
   end Control;

   ----------
   -- Test --
   ----------

   procedure Test (Count : Iterations; Sum : out Checksum) is
   begin
      Features_Tally.Clear;
      Features_Team.Run (Call_Simple'Access, Count, Sum);
      Sum := Sum + Features_Tally.Total;
   end Test;

end Features_Rendezvous_Callers;
