--  The barrier by the general scheme: its task stays

with Gates;

package Barrier_General is

   pragma Elaborate_Body;

   procedure Expect (Number : in Gates.Client_Number);

   procedure Arrive;

   procedure Pass;

end Barrier_General;
