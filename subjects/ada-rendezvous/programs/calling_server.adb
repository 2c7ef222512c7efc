with Fields;

package body Calling_Server is

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      pragma Unreferenced (Count);
   begin
      Entrance.Open (Fields.Parts, Rounds => 0);
      Entrance.Await_All (Sum);
   end Control;

   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Entrance.Open (Fields.Parts, Rounds => Count);
      Entrance.Await_All (Sum);
   end Test;

   procedure Register is
   begin
      Kit.Register_Frame
        (Name    => "calling." & Variant,
         Control => Control_Frame,
         Test    => Test_Frame,
         Threads => Fields.Parts,
         Work    => "calling");
   end Register;

end Calling_Server;
