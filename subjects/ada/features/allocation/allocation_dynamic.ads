--  Arrays of one to three dimensions bounded by variables: in a procedure, in a block, and by `new`

package Allocation_Dynamic is

   procedure Register;

end Allocation_Dynamic;
