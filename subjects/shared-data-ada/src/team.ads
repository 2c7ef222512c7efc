--  Tasks that start at a barrier and work until time is up.

with Interfaces;
with System;

package Team is

   --  Between two looks at whether time is up a task does so many operations.
   Operations_A_Look : constant := 64;

   Tasks_Most : constant := 64;

   subtype Task_Count is Positive range 1 .. Tasks_Most;

   type Count is range 0 .. 2**63 - 1;

   --  What tasks write at each operation lies so far apart, in storage elements: two lines of the processor's cache, since it fetches them in
   --  pairs.
   Apart : constant := 128;

   --  What a task did.
   type Account is record
      Number          : Natural := 0;
      Operations      : Count := 0;
      Updates         : Count := 0;
      Longest_Wait_Ns : Count := 0;
      Random          : Interfaces.Unsigned_64 := 0;
   end record
     with Alignment => Apart;

   type Accounts is array (Positive range <>) of aliased Account
     with Component_Size => Apart * System.Storage_Unit;

   Time_Is_Up : Boolean := False with Atomic;

   --  A pseudo-random number below 1000 (xorshift), by which operations become reads or writes.
   procedure Draw (Mine : in out Account; Permille : out Natural)
     with Inline;

   --  Runs Work in as many tasks as there are accounts; Elapsed_Ns is from just before their start until time was up. A task that raises
   --  an exception ends the program with a message.
   procedure Run
     (Done       : in out Accounts;
      Time_Ms    : Positive;
      Work       : not null access procedure (Mine : in out Account);
      Elapsed_Ns : out Count);

   --  The monotonic clock, ns.
   function Now_Ns return Count;

   function Sum_Of_Operations (Done : Accounts) return Count;
   function Sum_Of_Updates (Done : Accounts) return Count;

   --  The number without the space before it.
   function Image (Number : Count) return String;

   --  For the main program to end with a message.
   Misuse, Lost : exception;

end Team;
