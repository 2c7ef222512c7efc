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

   procedure Enter (Frame_To_Run : not null Frame; Count : Iterations; Sum : out Checksum) is
      pragma Unreferenced (Frame_To_Run, Count);
      pragma Warnings (Off, Sum);
   begin
      --  A call that is predicted wrongly every time, by the sequence that protects kernels from speculation
      --  ("retpoline"); some 15 ns a slice, the same for control and test. GNAT passes Frame_To_Run in rdi and Count in
      --  rsi; a frame takes Count in rdi and returns Sum in rax. A Frame leads to a library-level subprogram: it is
      --  the plain address of its code.
      --
      --    call 1f       pushes the address of 0:, which the processor will predict as the target of the `ret`
      --    0: pause ...  where it then speculates, in place, until it knows better
      --    1: mov ...    puts the frame's address in its stead
      --    ret           goes to the frame, with the caller's return address on top of the stack
      Asm ("movq %%rdi, %%rax" & Tab_Line & "movq %%rsi, %%rdi" & Tab_Line & "call 1f" & ASCII.LF
           & "0:" & ASCII.HT & "pause" & Tab_Line & "lfence" & Tab_Line & "jmp 0b" & ASCII.LF
           & "1:" & ASCII.HT & "movq %%rax, (%%rsp)" & Tab_Line & "ret",
           Volatile => True);
   end Enter;

end Kit.Branches;
