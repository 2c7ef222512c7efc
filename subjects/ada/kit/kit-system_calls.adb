with Interfaces.C.Strings;

package body Kit.System_Calls is

   function C_Strerror (Number : C.int) return Interfaces.C.Strings.chars_ptr
     with Import, Convention => C, External_Name => "strerror";

   function Strerror (Number : C.int) return String
   is (Interfaces.C.Strings.Value (C_Strerror (Number)));

end Kit.System_Calls;
