--  The table by the general scheme: its task stays. A requeue ends the rendezvous with the object that is to be called
--  next, and a nested accept begins and ends a rendezvous between the beginning and the end of another

with Places; use Places;

package Table_General is

   pragma Elaborate_Body;

   procedure Lay (Number : in Place);

   procedure Take (Who : in Place);

   procedure Put_Back (Who : in Place);

end Table_General;
