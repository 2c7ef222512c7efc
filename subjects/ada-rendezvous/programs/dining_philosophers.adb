with Switches;

package body Dining_Philosophers is

   use Kit;

   Seats : Place := Place'Last;

   Eating : array (Place) of Boolean := (others => False)
     with Atomic_Components;

   ------------
   -- Set_Up --
   ------------

   procedure Set_Up (Clients : Client_Number) is
   begin
      Seats := Clients;
      Lay (Clients);
   end Set_Up;

   ---------
   -- Eat --
   ---------

   procedure Eat (Who : Place) is
   begin
      Eating (Who) := True;
      delay 0.0;
      if Eating (Left_Of (Who, Seats)) or Eating (Right_Of (Who, Seats)) then
         raise Program_Error with "two philosophers eat with one fork";
      end if;
      Eating (Who) := False;
   end Eat;

   ----------
   -- Dine --
   ----------

   procedure Dine (Client : Client_Number; Rounds : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      Sum := 0;
      while Index < Rounds loop
         Switches.Note;
         Take (Client);
         Switches.Note;
         Eat (Client);
         Sum := Sum + Checksum (Client);
         Switches.Note;
         Put_Back (Client);
         Switches.Note;
         delay 0.0;
         Increment (Index);
      end loop;
   end Dine;

   ----------------
   -- Dine_Alone --
   ----------------

   procedure Dine_Alone (Client : Client_Number; Rounds : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      Sum := 0;
      while Index < Rounds loop
         Switches.Note;
         delay 0.0;
         Switches.Note;
         Sum := Sum + Checksum (Client);
         delay 0.0;
         Increment (Index);
      end loop;
   end Dine_Alone;

end Dining_Philosophers;
