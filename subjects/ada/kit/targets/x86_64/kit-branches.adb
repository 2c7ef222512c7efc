with System.Machine_Code; use System.Machine_Code;

package body Kit.Branches is

   State : Checksum := 88_172_645_463_325_252;

   Tab_Line : constant String := ASCII.LF & ASCII.HT;

   procedure Unlearn is
      Bits : Checksum;
   begin
      --  A generator of pseudo-random bits (xorshift, 13 7 17) ...
      State := State xor State * 2**13;
      State := State xor State / 2**7;
      State := State xor State * 2**17;
      Bits := State;

      --  ... and 2000 conditional jumps, each at an address of its own and each taken or not by one of them
      Asm (".rept 2000" & Tab_Line & "rorq $1, %0" & Tab_Line & "jc 1f" & Tab_Line & "nop" & ASCII.LF
           & "1:" & ASCII.LF & ".endr",
           Outputs  => Checksum'Asm_Output ("=r", Bits),
           Inputs   => Checksum'Asm_Input ("0", Bits),
           Clobber  => "cc",
           Volatile => True);
   end Unlearn;

end Kit.Branches;
