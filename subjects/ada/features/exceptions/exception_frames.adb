with Exception_Causes; use Exception_Causes;
with Exception_Handlers;

package body Exception_Frames is

   use type Kit.Checksum, Kit.Iterations;

   --  Not raised ---------------------------------------------------------------------------------------------------

   procedure Bare (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      while Index < Count loop
         Raise_Nothing;
         Kit.Increment (Index);
      end loop;
      Sum := Kit.Checksum (Index);
   end Bare;

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

   procedure Bare_Procedure (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      while Index < Count loop
         Exception_Handlers.Bare;
         Kit.Increment (Index);
      end loop;
      Sum := Kit.Checksum (Index);
   end Bare_Procedure;

   procedure Handler_In_Procedure (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      while Index < Count loop
         Exception_Handlers.Handling;
         Kit.Increment (Index);
      end loop;
      Sum := Kit.Checksum (Index);
   end Handler_In_Procedure;

   --  Raised and handled in the block -----------------------------------------------------------------------------

   procedure Nothing_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         Handled := Handled + 1;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Nothing_In_Block;

   procedure User_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         begin
            raise Failure;
         exception
            when Failure =>
               Handled := Handled + 1;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end User_In_Block;

   procedure Range_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         begin
            Narrowed := Too_Large;
         exception
            when Constraint_Error =>
               Handled := Handled + 1;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Range_In_Block;

   procedure Overflow_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         begin
            Result := Largest + 1;
         exception
            when Constraint_Error =>
               Handled := Handled + 1;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Overflow_In_Block;

   procedure Constraint_Error_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         begin
            raise Constraint_Error;
         exception
            when Constraint_Error =>
               Handled := Handled + 1;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Constraint_Error_In_Block;

   procedure Tasking_Error_In_Block (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         begin
            raise Tasking_Error;
         exception
            when Tasking_Error =>
               Handled := Handled + 1;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Tasking_Error_In_Block;

   --  Raised in a procedure, handled in the calling block ---------------------------------------------------------

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
