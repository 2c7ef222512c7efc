--  The clients of the programs whose servers accept: up to Gates.Largest tasks that play a part each, slice after
--  slice. Under placement `across` those with even numbers run on the partners' processor

with Gates; use Gates;
with Kit;

package Crew is

   type Duty is (Idle, Application);

   type Part is access procedure (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Count (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);
   --  The part of clients that do nothing

   procedure Gather (Clients : Client_Number; Alone, Together : not null Part);
   --  Starts the clients, with their parts in control and test

   procedure Run (What : Duty; Rounds : Kit.Iterations; Sum : out Kit.Checksum);
   --  Has each client do so many rounds; the sum of their sums. Idle: each alone

   procedure Dismiss;
   --  Returns when all clients have terminated; ends a crew in any state

end Crew;
