with Exception_Causes; use Exception_Causes;

package body Exception_Frames is

   use type Kit.Checksum, Kit.Iterations;

   procedure Not_Handled (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      while Index < Count loop
         Call;
         Kit.Increment (Index);
      end loop;
      Sum := Kit.Checksum (Index);
   end Not_Handled;

   procedure Handler_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      while Index < Count loop
         begin
            Raise_Nothing;
         exception
            when Failure =>
               Result := 2;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Kit.Checksum (Index);
   end Handler_In_Block;

   procedure Handled_By_Caller (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         begin
            Call;
         exception
            when Failure | Constraint_Error | Tasking_Error =>
               Handled := Handled + 1;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Handled_By_Caller;

   procedure Control_Of_Caller (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         Call;
         Handled := Handled + 1;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Control_Of_Caller;

end Exception_Frames;
