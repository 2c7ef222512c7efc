--  Writes the packages of the allocation tests whose objects differ in type and size alone

package Allocation_Sources is

   procedure Write;

end Allocation_Sources;
