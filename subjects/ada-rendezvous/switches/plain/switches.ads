--  Switches are the kernel's to count: nothing is done here. The body in ../counted counts them as the study did

package Switches is

   procedure Note is null with Inline_Always;
   --  At each synchronization point: before and after a call, and where a call is accepted

end Switches;
