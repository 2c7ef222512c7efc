--  Producers put items into a buffer of ten, consumers take them out. Half of the clients are producers. In a round
--  each producer makes one item and each consumer uses one up

with Crew_Tests;
with Gates; use Gates;
with Items; use Items;
with Kit;

generic
   Variant : String;
   with procedure Put (X : in Item);
   with procedure Get (X : out Item);
package Producer_Consumer is

   procedure Set_Up (Clients : Client_Number) is null;

   procedure Produce_Or_Consume (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Work_Alone (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   package Tests is new Crew_Tests
     ("prodcons", Variant, Own_Clients => 2, Rounds => 200,
      Set_Up => Set_Up, Clear => Set_Up, Play => Produce_Or_Consume, Play_Alone => Work_Alone);

end Producer_Consumer;
