with Features_Storage_Loops; use Features_Storage_Loops;
with Kit;

package body Features_Storage is

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Kit.Register_Series ("storage.kept", Keep'Access, Prepare'Access, Release'Access);
      Kit.Register_Series ("storage.two_pointers", Keep_Two'Access, Prepare'Access, Release'Access);
      Kit.Register_Series ("storage.deallocated", Deallocate'Access, Prepare'Access, Release'Access);
   end Register;

end Features_Storage;
