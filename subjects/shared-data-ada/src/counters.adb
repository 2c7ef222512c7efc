with Ada.Text_IO;
with System.Atomic_Operations.Integer_Arithmetic;
with Team; use Team;

package body Counters is

   --  GNAT adds to a type of all 64 bits by the processor's own instruction; to one with a narrower range, which it must check, by exchanges
   --  that it repeats until nobody came between.
   type Atomic_Count is range -2**63 .. 2**63 - 1 with Atomic;

   package Arithmetic is new System.Atomic_Operations.Integer_Arithmetic (Atomic_Count);

   protected type Protected_Count is
      procedure Increment;
      function Value return Count;
   private
      Counted : Count := 0;
   end Protected_Count;

   protected body Protected_Count is

      procedure Increment is
      begin
         Counted := Counted + 1;
      end Increment;

      function Value return Count is (Counted);

   end Protected_Count;

   --  Volatile, so that every increment is one of memory; that alone makes none of them indivisible. As a whole, since GNAT forgets it of a
   --  component that is reached by a reference.
   type Counter is limited record
      Unprotected : Count := 0;
      Indivisible : aliased Atomic_Count := 0;
      Locked      : Protected_Count;
   end record
     with Volatile, Alignment => Apart;

   --  On the heap in all languages but Python: what is reached by a register processors may keep at hand, and add to it several times as fast as
   --  to what has a fixed place in the program (docs/explanation/shared-data.md).
   Shared : constant not null access Counter := new Counter;

   procedure Without (Mine : in out Account) is
   begin
      while not Time_Is_Up loop
         for I in 1 .. Operations_A_Look loop
            Shared.Unprotected := Shared.Unprotected + 1;
         end loop;
         Mine.Operations := Mine.Operations + Operations_A_Look;
      end loop;
   end Without;

   procedure Atomically (Mine : in out Account) is
   begin
      while not Time_Is_Up loop
         for I in 1 .. Operations_A_Look loop
            Arithmetic.Atomic_Add (Shared.Indivisible, 1);
         end loop;
         Mine.Operations := Mine.Operations + Operations_A_Look;
      end loop;
   end Atomically;

   procedure By_Lock (Mine : in out Account) is
   begin
      while not Time_Is_Up loop
         for I in 1 .. Operations_A_Look loop
            Shared.Locked.Increment;
         end loop;
         Mine.Operations := Mine.Operations + Operations_A_Look;
      end loop;
   end By_Lock;

   procedure Run (Way : String; Tasks, Time_Ms : Positive) is
      Done       : Accounts (1 .. Tasks);
      Elapsed_Ns : Count;
      Kept       : Count;
   begin
      if Way = "unsafe" then
         Team.Run (Done, Time_Ms, Without'Access, Elapsed_Ns);
         Kept := Shared.Unprotected;
      elsif Way = "atomic" then
         Team.Run (Done, Time_Ms, Atomically'Access, Elapsed_Ns);
         Kept := Count (Shared.Indivisible);
      elsif Way = "locked" then
         Team.Run (Done, Time_Ms, By_Lock'Access, Elapsed_Ns);
         Kept := Shared.Locked.Value;
      else
         raise Misuse with "there is no program `counter_" & Way & "`";
      end if;
      if Way /= "unsafe" and then Kept /= Sum_Of_Operations (Done) then
         raise Lost with Way & " lost increments:" & Kept'Image & " of" & Sum_Of_Operations (Done)'Image & " are left";
      end if;
      Ada.Text_IO.Put_Line ("counter, tasks " & Image (Count (Tasks)));
      Ada.Text_IO.Put_Line
        ("@@ run elapsed_ns=" & Image (Elapsed_Ns) & " operations=" & Image (Sum_Of_Operations (Done)) & " kept=" & Image (Kept));
   end Run;

end Counters;
