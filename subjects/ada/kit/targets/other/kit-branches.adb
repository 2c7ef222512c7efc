package body Kit.Branches is

   procedure Enter (Frame_To_Run : not null Frame; Count : Iterations; Sum : out Checksum) is
   begin
      Frame_To_Run.all (Count, Sum);
   end Enter;

end Kit.Branches;
