--  The protected objects and one operation on each, compiled apart from the frames. Operations count inside the
--  protected action, function calls and refusals outside it, as the control does.

with Kit;

package Features_Protected_Objects is

   --  No contention ---------------------------------------------------------------------------------------------

   protected type Plain_Object is
      function Is_Open return Boolean;
      procedure Pass_By_Procedure;
   private
      Open : Boolean := True;
   end Plain_Object;
   --  Without entries, as in ACES pt_po04 and pt_po05: nothing but a lock, whereas leaving an object with entries
   --  looks for calls that may go on

   protected type Passage is
      procedure Pass_By_Procedure;
      entry Pass_By_Entry;
      entry Pass_By_Requeue;
      entry Pass_Closed;
   private
      entry Pass_After_Requeue;
      Open : Boolean := True;
   end Passage;

   procedure Call_Nothing;
   procedure Call_Function;
   procedure Call_Procedure;
   --  Of the object without entries

   procedure Call_Procedure_With_Entries;
   procedure Call_Entry;
   procedure Call_Requeued;
   --  An entry that requeues the call on another, which is open

   procedure Call_Open_If;
   procedure Call_Closed_If;
   --  Conditional calls

   procedure Call_Open_In_Time;
   procedure Call_Closed_In_Time;
   procedure Call_Closed_1_US;
   --  Timed calls; the last two expire, the time-outs being 0.0 (see Features_Rendezvous_Calls) and 1 µs

   No_Wait         : Duration := 0.0;
   One_Microsecond : Duration := 0.000_001;

   --  Contention ------------------------------------------------------------------------------------------------

   procedure Prepare_Exchange (Arg : Kit.Argument);

   procedure Finish_Exchange (Arg : Kit.Argument);

   procedure Exchange_Once;
   --  A hand-off there and back through two entries, each of which blocks until the other task opens its barrier:
   --  what a rendezvous does, by a protected object

end Features_Protected_Objects;
