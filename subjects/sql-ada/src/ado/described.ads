--  What differs by database among those that ADO knows

package Described is

   procedure Register;
   --  Makes ADO's driver known to it

   function Address return String;

end Described;
