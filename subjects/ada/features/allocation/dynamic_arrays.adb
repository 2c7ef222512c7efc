with System.Machine_Code;

package body Dynamic_Arrays is

   procedure Hold (Object : System.Address) is
   begin
      System.Machine_Code.Asm
        ("", Inputs => System.Address'Asm_Input ("r", Object), Clobber => "memory", Volatile => True);
   end Hold;

   procedure Nothing is
   begin
      null;
   end Nothing;

   procedure Declare_1 is
      Object : Array_1 (Low .. High);
   begin
      Hold (Object'Address);
   end Declare_1;

   procedure Declare_2 is
      Object : Array_2 (Low .. High, Low .. High);
   begin
      Hold (Object'Address);
   end Declare_2;

   procedure Declare_3 is
      Object : Array_3 (Low .. High, Low .. High, Low .. High);
   begin
      Hold (Object'Address);
   end Declare_3;

   function New_1 return Array_1_Access
   is (new Array_1 (Low .. High));

   function New_2 return Array_2_Access
   is (new Array_2 (Low .. High, Low .. High));

   function New_3 return Array_3_Access
   is (new Array_3 (Low .. High, Low .. High, Low .. High));

   function No_1 return Array_1_Access
   is (null);

   function No_2 return Array_2_Access
   is (null);

   function No_3 return Array_3_Access
   is (null);

end Dynamic_Arrays;
