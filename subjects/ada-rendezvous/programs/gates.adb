package body Gates is

   use Kit;

   ----------
   -- Gate --
   ----------

   protected body Gate is

      procedure Open (Clients : Client_Number; Rounds : Kit.Iterations) is
      begin
         Slice := Slice + 1;
         Running := Clients;
         Its_Rounds := Rounds;
         Total := 0;
      end Open;

      entry Start (for Turn in Parity) (Rounds : out Kit.Iterations) when Slice = Turn is
      begin
         Rounds := Its_Rounds;
      end Start;

      procedure Report (Sum : Kit.Checksum) is
      begin
         Total := Total + Sum;
         Running := Running - 1;
      end Report;

      procedure Fail (Error : Ada.Exceptions.Exception_Occurrence) is
      begin
         Ada.Exceptions.Save_Occurrence (Failure, Error);
         Running := 0;
      end Fail;

      entry Await_All (Sum : out Kit.Checksum) when Running = 0 is
      begin
         Sum := Total;
         Ada.Exceptions.Reraise_Occurrence (Failure);
      end Await_All;

   end Gate;

   -----------
   -- Enter --
   -----------

   procedure Enter
     (Entrance : in out Gate; Turn : in out Parity; Rounds : out Kit.Iterations; Role : String := "partner") is
   begin
      Turn := Turn + 1;
      Entrance.Start (Turn) (Rounds);
      if Kit.Reporting then
         Kit.Thread_Reports (Role);
      end if;
   end Enter;

end Gates;
