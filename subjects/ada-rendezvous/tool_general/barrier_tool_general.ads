--  A barrier that every party must reach before any may pass, kept by a task

with Gates;

package Barrier_Tool_General is

   --  Was task Barrier. Its clients call the protected object Barrier, and
   --  Barrier_Server accepts their calls (antiphon translate)
   type Barrier_Call is (No_Call, Expect_Call, Arrive_Call, Pass_Call);
   type Barrier_Open is array (Barrier_Call) of Boolean;

   protected type Barrier_Expect_Rendezvous is
      entry Call (Number : in Gates.Client_Number);
      entry Accept_Begin (Number : out Gates.Client_Number);
      procedure Accept_End;
   private
      entry Queue;
      Called : Boolean := False;
      Ended : Boolean := False;
      Kept_Number : Gates.Client_Number;
   end Barrier_Expect_Rendezvous;

   protected type Barrier_Arrive_Rendezvous is
      entry Call;
      entry Accept_Begin;
      procedure Accept_End;
   private
      entry Queue;
      Called : Boolean := False;
      Ended : Boolean := False;
   end Barrier_Arrive_Rendezvous;

   Barrier_Expect : Barrier_Expect_Rendezvous;
   Barrier_Arrive : Barrier_Arrive_Rendezvous;
   Barrier_Pass : Barrier_Arrive_Rendezvous;

   protected Barrier is
      entry Expect (Number : in Gates.Client_Number);
      entry Arrive;
      entry Pass;

      --  For Barrier_Server alone:
      entry Accept_Next
        (Open_Entries : in  Barrier_Open;
         Chosen       : out Barrier_Call);
      procedure Close;
   private
      entry Waiting_For_Call
        (Open_Entries : in  Barrier_Open;
         Chosen       : out Barrier_Call);
      Is_Open : Barrier_Open := (others => False);
      Called  : Barrier_Call := No_Call;
      Closed  : Boolean := False;
   end Barrier;

   task Barrier_Server;

end Barrier_Tool_General;
