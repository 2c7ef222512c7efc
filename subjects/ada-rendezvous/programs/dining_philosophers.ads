--  Philosophers think, take both forks, eat, and put them back. They eat and think for no time, but let the others run
--  meanwhile; the control does that too, so that it is left out of the cost, as the study left out its delays

with Crew_Tests;
with Gates;  use Gates;
with Kit;
with Places; use Places;

generic
   Variant : String;
   with procedure Lay (Number : in Place);
   with procedure Take (Who : in Place);
   with procedure Put_Back (Who : in Place);
package Dining_Philosophers is

   procedure Set_Up (Clients : Client_Number);

   procedure Clear (Clients : Client_Number) is null;

   procedure Dine (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Dine_Alone (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   package Tests is new Crew_Tests
     ("dining", Variant, Own_Clients => 5, Rounds => 20,
      Set_Up => Set_Up, Clear => Clear, Play => Dine, Play_Alone => Dine_Alone);

end Dining_Philosophers;
