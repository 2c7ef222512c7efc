--  The clients of the programs whose servers accept: up to Gates.Largest tasks that play a part each, slice after
--  slice. Under placement `across` those with even numbers run on the partners' processor

with Gates; use Gates;
with Kit;

package Crew is

   type Duty is (Alone, Together);
   --  Control and test: the same work without synchronization and with it

   type Part is access procedure (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Gather (Clients : Client_Number; Part_Alone, Part_Together : not null Part);
   --  Starts the clients

   procedure Run (What : Duty; Rounds : Kit.Iterations; Sum : out Kit.Checksum);
   --  Has each client do so many rounds; the sum of their sums

   procedure Dismiss;
   --  Returns when all clients have terminated; ends a crew in any state

end Crew;
