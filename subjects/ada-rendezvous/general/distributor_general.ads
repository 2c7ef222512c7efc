--  The distributor by the general scheme: the server and its loop stay; each client's entry is a protected object

with Gates;

package Distributor_General is

   pragma Elaborate_Body;

   Entrance : Gates.Gate;

end Distributor_General;
