with Allocation_Dynamic;
with Allocations_By_Size;

package body Features_Allocation is

   procedure Register is
   begin
      Allocations_By_Size.Register_Fixed;
      Allocation_Dynamic.Register;
      Allocations_By_Size.Register_New;
   end Register;

end Features_Allocation;
