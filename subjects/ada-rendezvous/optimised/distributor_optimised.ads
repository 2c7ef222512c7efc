--  The distributor by the general scheme, optimised: the clients' accepts have nothing to do but take their parameter,
--  so they have no Accept_End, and a rendezvous ends as soon as both sides are there

with Gates;

package Distributor_Optimised is

   pragma Elaborate_Body;

   Entrance : Gates.Gate;

end Distributor_Optimised;
