--  The distributor by the general scheme, optimised: the clients' accepts have nothing to do but take their parameter,
--  so they have no Accept_End, and a rendezvous ends as soon as both sides are there

with Fields;

package Distributor_Optimised is

   procedure Run (Written : in out Fields.Total);
   --  Returns when all clients have ended

end Distributor_Optimised;
