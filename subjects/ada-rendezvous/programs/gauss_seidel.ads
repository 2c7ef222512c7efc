--  Laplace's equation on a grid by Gauss and Seidel's iteration, red points before black ones, each client a column.
--  A round is one iteration: each client computes its red points, waits for the others at the barrier, computes its
--  black points, and waits again. The upper edge grows warmer and cooler, so that the grid never comes to rest

with Crew_Tests;
with Gates; use Gates;
with Kit;

generic
   Variant : String;
   with procedure Expect (Number : in Client_Number);
   with procedure Arrive;
   with procedure Pass;
package Gauss_Seidel is

   procedure Set_Up (Clients : Client_Number);

   procedure Clear (Clients : Client_Number);

   procedure Iterate (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Iterate_Alone (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);
   --  As if all columns were always ready: those beside its own never change

   package Tests is new Crew_Tests
     ("gauss_seidel", Variant, Own_Clients => 16, Rounds => 10,
      Set_Up => Set_Up, Clear => Clear, Play => Iterate, Play_Alone => Iterate_Alone);

end Gauss_Seidel;
