with Fields;

package body Calling_Server is

   use Kit;

   Rounds : constant := 10;   --  in a run, which is one iteration

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Argument) is
      pragma Unreferenced (Arg);
   begin
      Crew.Gather (Fields.Parts, Part_Alone, Part_Alone);
   end Prepare;

   ----------------
   -- Fill_Alone --
   ----------------

   procedure Fill_Alone (Client : Client_Number; Rounds : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      Sum := 0;
      while Index < Rounds loop
         Sum := Sum + Fields.Fill (Client);
         Increment (Index);
      end loop;
   end Fill_Alone;

   -------------
   -- Control --
   -------------

   procedure Control (Count : Iterations; Sum : out Checksum) is
   begin
      Crew.Run (Crew.Alone, Count * Rounds, Sum);
   end Control;

   ----------
   -- Test --
   ----------

   procedure Test (Count : Iterations; Sum : out Checksum) is
   begin
      Entrance.Open (Fields.Parts, Count * Rounds);
      Entrance.Await_All (Sum);
   end Test;

   ------------
   -- Finish --
   ------------

   procedure Finish (Arg : Argument) is
      pragma Unreferenced (Arg);
   begin
      Crew.Dismiss;
   end Finish;

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Kit.Register_Frame
        (Name    => "calling." & Variant,
         Control => Control_Frame,
         Test    => Test_Frame,
         Prepare => Prepare_Hook,
         Finish  => Finish_Hook,
         Threads => Fields.Parts,
         Work    => "calling");
   end Register;

end Calling_Server;
