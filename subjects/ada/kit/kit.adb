with Kit.Registry;
with Kit.System_Calls;
with Kit.Threads;

package body Kit is

   procedure Increment (Index : in out Iterations) is
   begin
      Index := Index + 1;
   end Increment;

   procedure Register_Frame
     (Name     : String;
      Control  : Frame;
      Test     : Frame;
      Prepare  : Hook     := null;
      Reset    : Hook     := null;
      Finish   : Hook     := null;
      Expected : Switches := Undeclared;
      Threads  : Positive := 1;
      Work     : String   := "";
      Arg_Unit : String   := "") is
   begin
      Registry.Add
        (Name, Arg_Unit,
         (Kind     => Registry.Frame_Test,
          Prepare  => Prepare,
          Finish   => Finish,
          Threads  => Threads,
          Control  => Control,
          Test     => Test,
          Reset    => Reset,
          Expected => Expected),
         Work);
   end Register_Frame;

   procedure Register_Latency
     (Name     : String;
      Operate  : Operation;
      Prepare  : Hook     := null;
      Finish   : Hook     := null;
      Threads  : Positive := 1;
      Arg_Unit : String   := "") is
   begin
      Registry.Add
        (Name, Arg_Unit,
         (Kind    => Registry.Latency_Test,
          Prepare => Prepare,
          Finish  => Finish,
          Threads => Threads,
          Operate => Operate));
   end Register_Latency;

   procedure Register_Series
     (Name     : String;
      One_Turn : Turn;
      Prepare  : Hook   := null;
      Release  : Hook   := null;
      Arg_Unit : String := "bytes") is
   begin
      Registry.Add
        (Name, Arg_Unit,
         (Kind     => Registry.Series_Test,
          Prepare  => Prepare,
          Finish   => Release,
          Threads  => 1,
          One_Turn => One_Turn));
   end Register_Series;

   procedure Register_Absent (Name, Kind, Reason : String; Work : String := "") is
   begin
      Registry.Add_Absent (Name, Kind, Reason, Work);
   end Register_Absent;

   function Now return Nanoseconds is
      Time : System_Calls.Timespec;
   begin
      System_Calls.Read_Clock (System_Calls.Clock_Monotonic, Time);
      return Nanoseconds (Time.Seconds) * 10**9 + Nanoseconds (Time.Nanoseconds);
   end Now;

   function Partners_Elsewhere return Boolean
   is (Threads.Partners_Move);

   procedure Thread_Begins (Role : String := "partner") is
   begin
      if Threads.Partners_Move then
         Threads.Move_Partner;
      end if;
      if Untimed then
         Threads.Report (Role);
      end if;
   end Thread_Begins;

   procedure Thread_Reports (Role : String := "partner") is
   begin
      Threads.Report (Role);
   end Thread_Reports;

end Kit;
