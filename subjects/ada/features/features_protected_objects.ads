--  The protected objects and one operation on each, compiled apart from the frames. Operations count inside the
--  protected action, function calls and refusals outside it, as the control does.

with Kit;

package Features_Protected_Objects is

   --  No contention ---------------------------------------------------------------------------------------------

   protected type Passage is
      function Is_Open return Boolean;
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
   procedure Call_Entry;
   procedure Call_Requeued;
   --  An entry that requeues the call on another, which is open

   procedure Call_Open_If;
   procedure Call_Closed_If;
   --  Conditional calls

   procedure Call_Open_In_Time;
   procedure Call_Closed_In_Time;
   --  Timed calls; the second expires, its time-out being 0.0 (see Features_Rendezvous_Calls)

   No_Wait : Duration := 0.0;

   --  Contention ------------------------------------------------------------------------------------------------

   procedure Prepare_Exchange (Arg : Kit.Argument);

   procedure Finish_Exchange (Arg : Kit.Argument);

   procedure Exchange_Once;
   --  A hand-off there and back through two entries, each of which blocks until the other task opens its barrier:
   --  what a rendezvous does, by a protected object

   procedure Prepare_Pair (Arg : Kit.Argument);

   procedure Finish_Pair (Arg : Kit.Argument);

   procedure Pair_Control (Count : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Pair_Test (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  Two tasks call one protected procedure, half of the calls each. They meet in it only on two processors
   --  (placement `across`): on one, under `fifo`, one has done its half before the other begins

end Features_Protected_Objects;
