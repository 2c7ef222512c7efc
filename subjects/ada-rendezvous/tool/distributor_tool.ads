--  A server that calls each of its clients in turn to tell it which part of the field is its own

with Fields;

package Distributor_Tool is

   procedure Run (Written : in out Fields.Total);
   --  Returns when all clients have ended

end Distributor_Tool;
