--  The frames of the exception tests

with Kit;

package Exception_Frames is

   --  Not raised: a null procedure is called with and without a handler around it

   procedure Bare (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Handler_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Bare_Procedure (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Handler_In_Procedure (Count : Kit.Iterations; Sum : out Kit.Checksum);

   --  Raised and handled in the block

   procedure Nothing_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure User_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Range_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Overflow_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Constraint_Error_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Tasking_Error_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);

   --  Raised in a procedure, handled in the calling block

   generic
      with procedure Call;
   procedure Handled_By_Caller (Count : Kit.Iterations; Sum : out Kit.Checksum);

   generic
      with procedure Call;
   procedure Control_Of_Caller (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  For calls that raise nothing: what the handler does is done in line

end Exception_Frames;
