--  The barrier by the general scheme, optimised

with Gates;

package Barrier_Optimised is

   pragma Elaborate_Body;

   procedure Expect (Number : in Gates.Client_Number);

   procedure Arrive;

   procedure Pass;

end Barrier_Optimised;
