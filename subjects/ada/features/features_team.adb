with Ada.Exceptions;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Ada.Unchecked_Deallocation;

package body Features_Team is

   use Kit;

   type Parity is mod 2;

   type Assignment is record
      Work  : Kit.Frame;
      Share : Iterations := 0;
      Sum   : Checksum := 0;
      Error : Unbounded_String; --  empty if the work was done
   end record;

   Assignments : array (Positive range 1 .. Largest) of Assignment;
   Gathered    : Natural := 0;

   protected Gate is
      procedure Empty;
      procedure Release;
      entry Start (Parity);
      --  Opened for all members at once; rounds alternate, so that a quick member does not start twice
      procedure Arrive;
      procedure Has_Finished;
      entry Await_All;
   private
      Round   : Parity  := 0;
      Running : Natural := 0;
   end Gate;

   Arrived : Natural := 0 with Atomic;
   --  Members that are awake in this round; changed by Gate alone

   procedure Await_The_Others;

   task type Member (Number : Size; Partner : Boolean);

   type Member_Access is access Member;

   procedure Free is new Ada.Unchecked_Deallocation (Member, Member_Access);

   Members_Now : array (Size) of Member_Access;

   ----------
   -- Gate --
   ----------

   protected body Gate is

      procedure Empty is
      begin
         Round   := 0;
         Running := 0;
      end Empty;

      procedure Release is
      begin
         Arrived := 0;
         Running := Gathered;
         Round   := Round + 1;
      end Release;

      entry Start (for Turn in Parity) when Round = Turn is
      begin
         null;
      end Start;

      procedure Arrive is
      begin
         Arrived := Arrived + 1;
      end Arrive;

      procedure Has_Finished is
      begin
         Running := Running - 1;
      end Has_Finished;

      entry Await_All when Running = 0 is
      begin
         null;
      end Await_All;

   end Gate;

   ----------------------
   -- Await_The_Others --
   ----------------------

   procedure Await_The_Others is
   begin
      --  Awake, because a member on another processor takes longer to wake than a share of work takes: the first would
      --  be done before the last began, and nobody would contend
      Gate.Arrive;
      while Arrived < Gathered loop
         delay 0.0;
      end loop;
   end Await_The_Others;

   ------------
   -- Member --
   ------------

   task body Member is
      Mine : Assignment renames Assignments (Number);
      Turn : Parity := 0;
   begin
      if Partner then
         Kit.Thread_Begins;
      end if;
      loop
         Turn := Turn + 1;
         Gate.Start (Turn);
         if Kit.Reporting then
            Kit.Thread_Reports (if Partner then "partner" else "main");
         end if;
         Await_The_Others;
         begin
            Mine.Work (Mine.Share, Mine.Sum);
         exception
            when Error : others =>
               Mine.Error := To_Unbounded_String (Ada.Exceptions.Exception_Message (Error));
         end;
         Gate.Has_Finished;
      end loop;
   end Member;

   ------------
   -- Gather --
   ------------

   procedure Gather (Members : Size; Partners : Natural := 0) is
   begin
      Dismiss;
      Gate.Empty;
      for Number in 1 .. Members loop
         Members_Now (Number) := new Member (Number, Partner => Number > Members - Partners);
         Gathered := Number;
      end loop;
   end Gather;

   ---------
   -- Run --
   ---------

   procedure Run (Work : not null Kit.Frame; Count : Iterations; Sum : out Checksum) is
      Each : constant Iterations := Count / Iterations (Gathered);
      Rest : constant Iterations := Count mod Iterations (Gathered);
   begin
      for Number in 1 .. Gathered loop
         Assignments (Number) :=
           (Work  => Work,
            Share => Each + (if Iterations (Number) <= Rest then 1 else 0),
            Sum   => 0,
            Error => Null_Unbounded_String);
      end loop;
      Gate.Release;
      Gate.Await_All;
      Sum := 0;
      for Done of Assignments (1 .. Gathered) loop
         if Length (Done.Error) > 0 then
            raise Program_Error with "a caller failed: " & To_String (Done.Error);
         end if;
         Sum := Sum + Done.Sum;
      end loop;
   end Run;

   -------------
   -- Dismiss --
   -------------

   procedure Dismiss is
   begin
      for Number in 1 .. Gathered loop
         abort Members_Now (Number).all;
      end loop;
      for Number in 1 .. Gathered loop
         while not Members_Now (Number).all'Terminated loop
            delay 0.000_1;
         end loop;
         Free (Members_Now (Number));
      end loop;
      Gathered := 0;
   end Dismiss;

end Features_Team;
