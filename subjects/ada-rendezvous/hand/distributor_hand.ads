--  Gives each client that asks the next part of the field

with Fields;

package Distributor_Hand is

   procedure Run (Written : in out Fields.Total);
   --  Returns when all clients have ended

end Distributor_Hand;
