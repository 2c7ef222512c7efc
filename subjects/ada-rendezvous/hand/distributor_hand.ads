--  Gives each client that asks the next part of the field

with Gates;

package Distributor_Hand is

   pragma Elaborate_Body;

   Entrance : Gates.Gate;

end Distributor_Hand;
