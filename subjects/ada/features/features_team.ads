--  A frame whose iterations are shared out among several tasks that run at the same time. Control and test start and
--  await the same team, so the cost of that cancels out. Members stay on the main thread's processor, whose part
--  they take, but for those that are said to be partners.

with Kit;

package Features_Team is

   Largest : constant := 8;

   subtype Size is Positive range 1 .. Largest;

   procedure Gather (Members : Size; Partners : Natural := 0);
   --  Starts the members, the last `Partners` of them on the partners' processor

   procedure Run (Work : not null Kit.Frame; Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  Has the members run Work with shares of Count at the same time; Sum is that of theirs.
   --  Raises Program_Error with the member's message if one failed

   procedure Dismiss;
   --  Returns when all members have terminated; ends a team in any state

end Features_Team;
