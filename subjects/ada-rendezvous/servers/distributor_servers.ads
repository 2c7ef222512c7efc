--  The distributor by the scheme for calling servers: parameters go the other way, clients call where they accepted,
--  and the server's loop over its clients has become a counter

with Fields;

package Distributor_Servers is

   procedure Run (Written : in out Fields.Total);
   --  Returns when all clients have ended

end Distributor_Servers;
