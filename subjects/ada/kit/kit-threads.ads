--  Where threads run, and what each of them says of itself

private package Kit.Threads is

   --  Placement -----------------------------------------------------------------------------------------------------

   Not_Permitted : exception;

   procedure Place_Same (Here : Natural);
   --  Every thread on one processor. Not_Permitted if the system refuses

   procedure Place_Across (Main, Partners : Natural);
   --  The main thread on one processor, all others on another

   function Partners_Move return Boolean with Inline;
   --  Under `across` a partner that begins must move; otherwise it is where it belongs, because threads inherit

   procedure Move_Partner;
   --  Moves the calling thread to the partners' processor

   --  Reports -------------------------------------------------------------------------------------------------------

   Role_Length_Max : constant := 40;

   type Thread_Report is record
      Role        : String (1 .. Role_Length_Max);
      Role_Length : Natural;
      Policy      : Integer;
      Priority    : Integer;
      Processor   : Integer;               --  -1 where unknown
      Allowed     : String (1 .. 200);     --  a list such as 0-1,4
      Allowed_Length : Natural;
      Count       : Positive;
   end record;

   procedure Report (Role : String);
   --  The calling thread reads its own policy, priority, processor and allowed processors; equal reports are counted

   procedure Report_Main;
   --  The same of the measuring thread

   procedure Start_Reporting;
   --  What follows is untimed: the measuring thread reports, its partners as they take part

   procedure Stop_Reporting;

   procedure Forget_Reports;

   function Report_Count return Natural;

   function Report_At (Index : Positive) return Thread_Report;

end Kit.Threads;
