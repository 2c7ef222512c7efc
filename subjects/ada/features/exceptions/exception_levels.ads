--  Chains of procedures without handlers. The first of a chain is the cause; each further one does something after its
--  call, so that the call is not turned into a jump

with Exception_Causes;

package Exception_Levels is

   First : Exception_Causes.Cause := Exception_Causes.Raise_Nothing'Access;

   procedure Call_4;
   procedure Call_16;
   --  Through as many procedures, First included

   Returns : Natural := 0;
   --  How many of the procedures returned; wraps at 2**20

end Exception_Levels;
