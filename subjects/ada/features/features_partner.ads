--  The life of a test's partner task: started before the frames, ended after them, also when a test has failed. A
--  partner serves for ever; it is ended by aborting it where it waits, so that its loop has nothing in it but the
--  feature.

with Ada.Task_Identification;
with Kit;

generic
   type Partner is limited private;
   type Partner_Access is access Partner;
   with function Identity (Instance : Partner_Access) return Ada.Task_Identification.Task_Id;
package Features_Partner is

   Instance : Partner_Access;
   --  Null unless a test is prepared

   procedure Prepare (Arg : Kit.Argument);

   procedure Finish (Arg : Kit.Argument);
   --  Returns when the partner has terminated and its storage is given back

end Features_Partner;
