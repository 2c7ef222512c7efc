--  The distributor by the general scheme: the server and its loop stay; each client's entry is a protected object

with Fields;

package Distributor_General is

   procedure Run (Written : in out Fields.Total);
   --  Returns when all clients have ended

end Distributor_General;
