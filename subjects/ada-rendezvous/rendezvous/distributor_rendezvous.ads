--  A server that calls each of its clients in turn to tell it which part of the field is its own

with Gates;

package Distributor_Rendezvous is

   pragma Elaborate_Body;

   Entrance : Gates.Gate;

end Distributor_Rendezvous;
