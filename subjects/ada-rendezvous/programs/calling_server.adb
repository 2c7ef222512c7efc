with Switches;

package body Calling_Server is

   use Kit;

   ---------------
   -- Run_Alone --
   ---------------

   procedure Run_Alone (Written : in out Fields.Total) is
      Created : Natural := 0;

      function Next_Part return Fields.Part;

      task type Client (Its_Part : Fields.Part := Next_Part);

      function Next_Part return Fields.Part is
      begin
         Created := Created + 1;
         return Created;
      end Next_Part;

      Clients : array (Fields.Part) of Client;
      pragma Unreferenced (Clients);

      task body Client is
      begin
         Switches.Note;
         Switches.Note;
         Fields.Fill (Its_Part, Written);
      end Client;

   begin
      null;
   end Run_Alone;

   -------------
   -- Control --
   -------------

   procedure Control (Count : Iterations; Sum : out Checksum) is
      Written : Fields.Total;
      Index   : Iterations := 0;
   begin
      while Index < Count loop
         Run_Alone (Written);
         Increment (Index);
      end loop;
      Sum := Written.Sum;
   end Control;

   ----------
   -- Test --
   ----------

   procedure Test (Count : Iterations; Sum : out Checksum) is
      Written : Fields.Total;
      Index   : Iterations := 0;
   begin
      while Index < Count loop
         Run (Written);
         Increment (Index);
      end loop;
      Sum := Written.Sum;
   end Test;

   --------------
   -- Register --
   --------------

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
