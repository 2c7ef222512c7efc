with Ada.Task_Identification; use Ada.Task_Identification;
with Features_Partner;
with Features_Tally;          use Features_Tally;
with Features_Team;

package body Features_Protected_Objects is

   use Kit;

   Patience : constant Duration := 10.0;

   Way : Passage;

   --  The exchange: There is opened for the partner by the caller, and Back for the caller by the partner

   protected Exchange is
      procedure Give;
      entry Await_There;
      procedure Give_Back;
      entry Await_Back;
      procedure Empty;
   private
      There, Back : Boolean := False;
   end Exchange;

   task type Exchange_Partner;

   type Exchange_Access is access Exchange_Partner;
   function Identity (Instance : Exchange_Access) return Task_Id is (Instance.all'Identity);
   package Partners is new Features_Partner (Exchange_Partner, Exchange_Access, Identity);

   --  What each of the two contending tasks does

   procedure Call_Repeatedly (Count : Iterations; Sum : out Checksum);
   procedure Count_Repeatedly (Count : Iterations; Sum : out Checksum);

   -------------
   -- Passage --
   -------------

   protected body Passage is

      function Is_Open return Boolean is (Open);

      procedure Pass_By_Procedure is
      begin
         Done := Done + 1;
      end Pass_By_Procedure;

      entry Pass_By_Entry when Open is
      begin
         Done := Done + 1;
      end Pass_By_Entry;

      entry Pass_By_Requeue when Open is
      begin
         requeue Pass_After_Requeue;
      end Pass_By_Requeue;

      entry Pass_After_Requeue when Open is
      begin
         Done := Done + 1;
      end Pass_After_Requeue;

      entry Pass_Closed when not Open is
      begin
         null;
      end Pass_Closed;

   end Passage;

   ------------------
   -- Call_Nothing --
   ------------------

   procedure Call_Nothing is
   begin
      Done := Done + 1;
   end Call_Nothing;

   -------------------
   -- Call_Function --
   -------------------

   procedure Call_Function is
   begin
      if Way.Is_Open then
         Done := Done + 1;
      end if;
   end Call_Function;

   --------------------
   -- Call_Procedure --
   --------------------

   procedure Call_Procedure is
   begin
      Way.Pass_By_Procedure;
   end Call_Procedure;

   ----------------
   -- Call_Entry --
   ----------------

   procedure Call_Entry is
   begin
      Way.Pass_By_Entry;
   end Call_Entry;

   -------------------
   -- Call_Requeued --
   -------------------

   procedure Call_Requeued is
   begin
      Way.Pass_By_Requeue;
   end Call_Requeued;

   ------------------
   -- Call_Open_If --
   ------------------

   procedure Call_Open_If is
   begin
      select
         Way.Pass_By_Entry;
      else
         raise Program_Error with "an open entry refused a conditional call";
      end select;
   end Call_Open_If;

   --------------------
   -- Call_Closed_If --
   --------------------

   procedure Call_Closed_If is
   begin
      select
         Way.Pass_Closed;
      else
         Done := Done + 1;
      end select;
   end Call_Closed_If;

   -----------------------
   -- Call_Open_In_Time --
   -----------------------

   procedure Call_Open_In_Time is
   begin
      select
         Way.Pass_By_Entry;
      or
         delay Patience;
         raise Program_Error with "an open entry did not take a timed call in 10 s";
      end select;
   end Call_Open_In_Time;

   -------------------------
   -- Call_Closed_In_Time --
   -------------------------

   procedure Call_Closed_In_Time is
   begin
      select
         Way.Pass_Closed;
      or
         delay No_Wait;
         Done := Done + 1;
      end select;
   end Call_Closed_In_Time;

   --------------
   -- Exchange --
   --------------

   protected body Exchange is

      procedure Give is
      begin
         There := True;
      end Give;

      entry Await_There when There is
      begin
         There := False;
      end Await_There;

      procedure Give_Back is
      begin
         Back := True;
      end Give_Back;

      entry Await_Back when Back is
      begin
         Back := False;
      end Await_Back;

      procedure Empty is
      begin
         There := False;
         Back  := False;
      end Empty;

   end Exchange;

   ----------------------
   -- Exchange_Partner --
   ----------------------

   task body Exchange_Partner is
   begin
      Kit.Thread_Begins;
      loop
         Exchange.Await_There;
         if Kit.Reporting then
            Kit.Thread_Reports;
         end if;
         Done := Done + 1;
         Exchange.Give_Back;
      end loop;
   end Exchange_Partner;

   ----------------------
   -- Prepare_Exchange --
   ----------------------

   procedure Prepare_Exchange (Arg : Kit.Argument) is
   begin
      Finish_Exchange (Arg);
      Exchange.Empty;
      Partners.Prepare (Arg);
   end Prepare_Exchange;

   ---------------------
   -- Finish_Exchange --
   ---------------------

   procedure Finish_Exchange (Arg : Kit.Argument) renames Partners.Finish;

   -------------------
   -- Exchange_Once --
   -------------------

   procedure Exchange_Once is
   begin
      Exchange.Give;
      Exchange.Await_Back;
   end Exchange_Once;

   ------------------
   -- Prepare_Pair --
   ------------------

   procedure Prepare_Pair (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      Features_Team.Gather (Members => 2, Partners => 1);
   end Prepare_Pair;

   -----------------
   -- Finish_Pair --
   -----------------

   procedure Finish_Pair (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      Features_Team.Dismiss;
   end Finish_Pair;

   ---------------------
   -- Call_Repeatedly --
   ---------------------

   procedure Call_Repeatedly (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Count loop
         Way.Pass_By_Procedure;
         Increment (Index);
      end loop;
      Sum := 0; --  the protected procedure tallies
   end Call_Repeatedly;

   ----------------------
   -- Count_Repeatedly --
   ----------------------

   procedure Count_Repeatedly (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      Sum := 0;
      while Index < Count loop
         Sum := Sum + 1;
         Increment (Index);
      end loop;
   end Count_Repeatedly;

   ------------------
   -- Pair_Control --
   ------------------

   procedure Pair_Control (Count : Iterations; Sum : out Checksum) is
   begin
      Features_Team.Run (Count_Repeatedly'Access, Count, Sum);
   end Pair_Control;

   ---------------
   -- Pair_Test --
   ---------------

   procedure Pair_Test (Count : Iterations; Sum : out Checksum) is
   begin
      Clear;
      Features_Team.Run (Call_Repeatedly'Access, Count, Sum);
      Sum := Sum + Total;
   end Pair_Test;

end Features_Protected_Objects;
