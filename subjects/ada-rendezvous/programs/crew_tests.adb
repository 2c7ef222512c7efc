package body Crew_Tests is

   use type Kit.Iterations;

   Present : Client_Number := Own_Clients;

   -------------
   -- Control --
   -------------

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Clear (Present);
      Crew.Run (Crew.Alone, Count * Rounds, Sum);
   end Control;

   ----------
   -- Test --
   ----------

   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Clear (Present);
      Crew.Run (Crew.Together, Count * Rounds, Sum);
   end Test;

   --------------
   -- Together --
   --------------

   procedure Together (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Play (Client, Rounds, Sum);
   end Together;

   -----------
   -- Alone --
   -----------

   procedure Alone (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Play_Alone (Client, Rounds, Sum);
   end Alone;

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Clients : Client_Number) is
   begin
      Present := Clients;
      Set_Up (Clients);
      Crew.Gather (Clients, Alone_Part, Together_Part);
   end Prepare;

   pragma Warnings (Off, "formal parameter ""Arg"" is not referenced");

   procedure Prepare_Own (Arg : Kit.Argument) is
   begin
      Prepare (Own_Clients);
   end Prepare_Own;

   procedure Prepare_4 (Arg : Kit.Argument) is
   begin
      Prepare (4);
   end Prepare_4;

   procedure Prepare_8 (Arg : Kit.Argument) is
   begin
      Prepare (8);
   end Prepare_8;

   procedure Prepare_16 (Arg : Kit.Argument) is
   begin
      Prepare (16);
   end Prepare_16;

   procedure Prepare_32 (Arg : Kit.Argument) is
   begin
      Prepare (32);
   end Prepare_32;

   ------------
   -- Finish --
   ------------

   procedure Finish (Arg : Kit.Argument) is
   begin
      Crew.Dismiss;
   end Finish;

   pragma Warnings (On, "formal parameter ""Arg"" is not referenced");

   --------------
   -- Register --
   --------------

   procedure Register is
      use type Kit.Switch_Counter;

      procedure Add (Suffix : String; Clients : Client_Number; Prepare : Kit.Hook);

      procedure Add (Suffix : String; Clients : Client_Number; Prepare : Kit.Hook) is
      begin
         Kit.Register_Frame
           (Name    => Program & "." & Variant & Suffix,
            Control => Control_Frame,
            Test    => Test_Frame,
            Prepare => Prepare,
            Finish  => Finish_Hook,
            Threads => Clients,
            Work    => Program & Suffix);
      end Add;

   begin
      Add ("", Own_Clients, Own_Hook);
      if Kit.Own_Switches /= null then
         return;   --  what the program counts is compared with what the kernel counts in the programs' own size only
      end if;
      for Test of Scaled loop
         declare
            Image : constant String := Test.Clients'Image;
         begin
            Add ("." & Image (Image'First + 1 .. Image'Last), Test.Clients, Test.Prepare);
         end;
      end loop;
   end Register;

end Crew_Tests;
