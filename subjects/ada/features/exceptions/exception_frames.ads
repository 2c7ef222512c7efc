--  The loops of the exception tests, around a call. Where the compiler has the call in line, the exception is raised in
--  the block that handles it

with Kit;

package Exception_Frames is

   generic
      with procedure Call;
   procedure Not_Handled (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  For calls that raise nothing and are not expected to

   procedure Handler_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  The same with a handler around the call

   generic
      with procedure Call;
   procedure Handled_By_Caller (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  For calls that raise an exception each time

   generic
      with procedure Call;
   procedure Control_Of_Caller (Count : Kit.Iterations; Sum : out Kit.Checksum);
   --  For calls that raise nothing: what the handler does is done in line

end Exception_Frames;
