with Switches;

package body Producer_Consumer is

   use Kit;

   -------------
   -- Produce --
   -------------

   procedure Produce (Rounds : Iterations) is
      Index : Iterations := 0;
      X     : Item := Seed;
   begin
      while Index < Rounds loop
         X := Worked_On (X);
         Switches.Note;
         Put (X);
         Switches.Note;
         Increment (Index);
      end loop;
   end Produce;

   -------------
   -- Consume --
   -------------

   procedure Consume (Rounds : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
      X     : Item;
   begin
      Sum := 0;
      while Index < Rounds loop
         Switches.Note;
         Get (X);
         Switches.Note;
         Sum := Sum + Checksum (Worked_On (X));
         Increment (Index);
      end loop;
   end Consume;

   ------------------------
   -- Produce_Or_Consume --
   ------------------------

   procedure Produce_Or_Consume (Client : Client_Number; Rounds : Iterations; Sum : out Checksum) is
   begin
      if Client mod 2 = 0 then
         Consume (Rounds, Sum);
      else
         Produce (Rounds);
         Sum := 0;
      end if;
   end Produce_Or_Consume;

   ----------------
   -- Work_Alone --
   ----------------

   procedure Work_Alone (Client : Client_Number; Rounds : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
      X     : Item := Seed + Item (Client);
   begin
      while Index < Rounds loop
         X := Worked_On (X);
         Increment (Index);
      end loop;
      Sum := Checksum (X);
   end Work_Alone;

end Producer_Consumer;
