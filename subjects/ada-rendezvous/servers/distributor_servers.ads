--  The distributor by the scheme for calling servers: parameters go the other way, clients call where they accepted,
--  and the server's loop over its clients has become a counter

with Gates;

package Distributor_Servers is

   pragma Elaborate_Body;

   Entrance : Gates.Gate;

end Distributor_Servers;
