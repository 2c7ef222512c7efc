--  A barrier that every party must reach before any may pass, kept by a task

with Gates;

package Barrier_Tool_Optimised is

   --  Was task Barrier. Its clients call the protected object Barrier, and
   --  Barrier_Server accepts their calls (antiphon translate)
   type Barrier_Call is (No_Call, Expect_Call, Arrive_Call, Pass_Call);
   type Barrier_Open is array (Barrier_Call) of Boolean;
   type Barrier_Data is record
      Expect_Number : Gates.Client_Number;
   end record;

   protected Barrier is
      entry Expect (Number : in Gates.Client_Number);
      entry Arrive;
      entry Pass;

      --  For Barrier_Server alone:
      entry Accept_Next
        (Open_Entries : in     Barrier_Open;
         Chosen       : in out Barrier_Call;
         Data         : in out Barrier_Data);
      procedure Close (Chosen : in out Barrier_Call; Data : in Barrier_Data);
   private
      entry Expect_End;
      entry Waiting_For_Call
        (Open_Entries : in     Barrier_Open;
         Chosen       : in out Barrier_Call;
         Data         : in out Barrier_Data);
      Is_Open : Barrier_Open := (others => False);
      Called  : Barrier_Call := No_Call;
      Ended   : Barrier_Call := No_Call;
      Kept    : Barrier_Data;
      Closed  : Boolean := False;
   end Barrier;

   task Barrier_Server;

end Barrier_Tool_Optimised;
