with Kit.Prepared;
with Kit.Registry;
with Kit.Threads;

package body Kit.Series_Loops is

   procedure Turn_All
     (One_Turn : not null Turn; Readings : in out Clocks.Series; Completed : in out Natural; Exhausted : out Boolean) is
   begin
      Exhausted := False;
      Readings (1) := Now;
      while Completed < Readings'Last - 1 loop
         One_Turn.all (Iterations (Completed + 1));
         Readings (Completed + 2) := Now;
         Completed := Completed + 1;
      end loop;
   exception
      when Storage_Error =>
         Exhausted := True;
   end Turn_All;

   procedure Run
     (Test      : Positive;
      Arg       : Argument;
      Count     : Positive;
      Readings  : out Clocks.Series_Access;
      Completed : out Natural;
      Exhausted : out Boolean) is
   begin
      Completed := 0;
      Readings := Clocks.New_Series (Count + 1);
      Threads.Forget_Reports;
      Threads.Report_Main;
      Prepared.Prepare (Test, Arg);
      Turn_All (Registry.Tests (Test).Action.One_Turn, Readings.all, Completed, Exhausted);
      Prepared.Finish;
      Threads.Report_Main;   --  when there is storage again
   exception
      when others =>
         Prepared.Give_Up;
         Free (Readings);
         raise;
   end Run;

end Kit.Series_Loops;
