with Ada.Task_Identification; use Ada.Task_Identification;
with Features_Partner;
with Features_Tally;          use Features_Tally;

package body Features_Protected_Objects is

   use Kit;

   Patience : constant Duration := 10.0;

   Plain : Plain_Object;
   Way   : Passage;

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

   ------------------
   -- Plain_Object --
   ------------------

   protected body Plain_Object is

      function Is_Open return Boolean is (Open);

      procedure Pass_By_Procedure is
      begin
         Done := Done + 1;
      end Pass_By_Procedure;

   end Plain_Object;

   -------------
   -- Passage --
   -------------

   protected body Passage is

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
      if Plain.Is_Open then
         Done := Done + 1;
      end if;
   end Call_Function;

   --------------------
   -- Call_Procedure --
   --------------------

   procedure Call_Procedure is
   begin
      Plain.Pass_By_Procedure;
   end Call_Procedure;

   ---------------------------------
   -- Call_Procedure_With_Entries --
   ---------------------------------

   procedure Call_Procedure_With_Entries is
   begin
      Way.Pass_By_Procedure;
   end Call_Procedure_With_Entries;

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

   ----------------------
   -- Call_Closed_1_US --
   ----------------------

   procedure Call_Closed_1_US is
   begin
      select
         Way.Pass_Closed;
      or
         delay One_Microsecond;
         Done := Done + 1;
      end select;
   end Call_Closed_1_US;

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

end Features_Protected_Objects;
