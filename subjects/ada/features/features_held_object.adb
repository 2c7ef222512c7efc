with Ada.Synchronous_Task_Control; use Ada.Synchronous_Task_Control;
with Ada.Unchecked_Deallocation;
with Features_Tally; use Features_Tally;
with Interfaces.C;

package body Features_Held_Object is

   use type Kit.Checksum, Kit.Nanoseconds;

   --  Steps of the caller and of the partner, counted. Each looks for the other's, and sleeps for the object alone: a
   --  task that slept whenever the other is late would have to be woken, and across processors the two frames would
   --  differ by how often that happens, which takes longer than all the rest

   type Step is (Caller_Wishes, Partner_Holds, Caller_Comes, Partner_Lets_Go);

   Taken : array (Step) of Kit.Checksum := (others => 0)
     with Atomic_Components;

   Held_On_Ns : constant := 2_000;
   --  Across processors the partner holds on for so long, in both frames, until the caller sleeps for sure: else it is
   --  chance whether the caller sleeps at all

   With_Object : Boolean := False with Atomic;
   Ending      : Boolean := False with Atomic;

   Looks : constant := 500;
   --  Where so many are in vain, as on one processor, the other task is let run

   Patience_Ns : constant := 1_000_000;
   --  Between two slices the partner looks out for the next wish, between two requests it sleeps

   Sleeps : Boolean := False with Atomic;
   Wake   : Suspension_Object;

   function Sched_Yield return Interfaces.C.int
     with Import, Convention => C, External_Name => "sched_yield";
   --  The holder lets the caller run from within its protected action, where Ada allows no delay statement. No locking
   --  policy is in force that would raise its priority there

   function Looked (Its : Step; Round : Kit.Checksum) return Boolean;
   --  Whether the step has been taken so many times, or is while one looks

   procedure Await (Its : Step; Round : Kit.Checksum);
   --  Until the step has been taken so many times

   procedure Await_Wish (Round : Kit.Checksum);

   procedure Wish (Round : Kit.Checksum);

   procedure Hold_On;

   procedure Await_Coming (Round : Kit.Checksum);
   --  Says that the partner is there, and stays until the caller has come

   protected Object is
      procedure Hold (Round : Kit.Checksum);
      procedure Pass;
   end Object;

   task type Partner;

   type Partner_Access is access Partner;

   procedure Free is new Ada.Unchecked_Deallocation (Partner, Partner_Access);

   Instance : Partner_Access;

   procedure Let_Partner_Hold (Its_Object : Boolean) with Inline;

   ------------
   -- Looked --
   ------------

   function Looked (Its : Step; Round : Kit.Checksum) return Boolean is
   begin
      for Look in 1 .. Looks loop
         if Taken (Its) >= Round then
            return True;
         end if;
      end loop;
      return False;
   end Looked;

   -----------
   -- Await --
   -----------

   procedure Await (Its : Step; Round : Kit.Checksum) is
      Result : Interfaces.C.int with Unreferenced;
   begin
      if not Looked (Its, Round) then
         while Taken (Its) < Round loop
            Result := Sched_Yield;
         end loop;
      end if;
   end Await;

   ----------------
   -- Await_Wish --
   ----------------

   procedure Await_Wish (Round : Kit.Checksum) is
      Result   : Interfaces.C.int with Unreferenced;
      Tired_At : Kit.Nanoseconds;
   begin
      if Looked (Caller_Wishes, Round) then
         return;
      end if;
      Tired_At := Kit.Now + Patience_Ns;
      while Taken (Caller_Wishes) < Round loop
         Result := Sched_Yield;
         if Kit.Now >= Tired_At then
            Sleeps := True;
            if Taken (Caller_Wishes) < Round then
               Suspend_Until_True (Wake);
            end if;
            Sleeps := False;
         end if;
      end loop;
   end Await_Wish;

   ----------
   -- Wish --
   ----------

   procedure Wish (Round : Kit.Checksum) is
   begin
      Taken (Caller_Wishes) := Round;
      if Sleeps then
         Set_True (Wake);
      end if;
   end Wish;

   -------------
   -- Hold_On --
   -------------

   procedure Hold_On is
      Let_Go_At : constant Kit.Nanoseconds := Kit.Now + Held_On_Ns;
   begin
      while Kit.Now < Let_Go_At loop
         null;
      end loop;
   end Hold_On;

   ------------------
   -- Await_Coming --
   ------------------

   procedure Await_Coming (Round : Kit.Checksum) is
   begin
      Taken (Partner_Holds) := Round;
      Await (Caller_Comes, Round);
      if Kit.Partners_Elsewhere then
         Hold_On;
      end if;
      Taken (Partner_Lets_Go) := Round;
   end Await_Coming;

   ------------
   -- Object --
   ------------

   protected body Object is

      procedure Hold (Round : Kit.Checksum) is
      begin
         Await_Coming (Round);
      end Hold;

      procedure Pass is
      begin
         Done := Done + 1;
      end Pass;

   end Object;

   -------------
   -- Partner --
   -------------

   task body Partner is
      Round : Kit.Checksum := 0;
   begin
      Kit.Thread_Begins;
      loop
         Round := Round + 1;
         Await_Wish (Round);
         exit when Ending;
         if Kit.Reporting then
            Kit.Thread_Reports;
         end if;
         if With_Object then
            Object.Hold (Round);
         else
            Await_Coming (Round);
         end if;
      end loop;
   end Partner;

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Kit.Argument) is
   begin
      Finish (Arg);
      Ending := False;
      for Its in Step loop
         Taken (Its) := 0;
      end loop;
      Instance := new Partner;
   end Prepare;

   ------------
   -- Finish --
   ------------

   procedure Finish (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      if Instance = null then
         return;
      end if;
      Ending := True;
      Taken (Caller_Comes) := Kit.Checksum'Last; --  wherever the partner waits, if the test has ended half-way
      Wish (Kit.Checksum'Last);
      while not Instance.all'Terminated loop
         delay 0.000_1;
      end loop;
      Free (Instance);
   end Finish;

   ----------------------
   -- Let_Partner_Hold --
   ----------------------

   procedure Let_Partner_Hold (Its_Object : Boolean) is
      Round : constant Kit.Checksum := Taken (Caller_Wishes) + 1;
   begin
      With_Object := Its_Object;
      Wish (Round);
      Await (Partner_Holds, Round);
      Taken (Caller_Comes) := Round;
   end Let_Partner_Hold;

   -------------------------
   -- Total_When_Released --
   -------------------------

   function Total_When_Released return Kit.Checksum is
   begin
      if Kit.Partners_Elsewhere then
         Await (Partner_Lets_Go, Taken (Caller_Wishes));
      end if;
      return Total;
   end Total_When_Released;

   -------------------------
   -- Come_Without_Object --
   -------------------------

   procedure Come_Without_Object is
   begin
      Let_Partner_Hold (False);
      Done := Done + 1;
   end Come_Without_Object;

   -------------------
   -- Come_And_Pass --
   -------------------

   procedure Come_And_Pass is
   begin
      Let_Partner_Hold (True);
      Object.Pass;
   end Come_And_Pass;

end Features_Held_Object;
