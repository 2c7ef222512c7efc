with Ada.Unchecked_Deallocation;

package body Allocation_Rings is

   use type Kit.Iterations;

   Length : constant Positive := Positive'Min (2**16, 2**27 / Bytes);

   Ring : array (0 .. Length - 1) of Pointer;

   procedure Free is new Ada.Unchecked_Deallocation (Object, Pointer);

   procedure Prepare (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      for Place of Ring loop
         Place := null;
      end loop;
   end Prepare;

   generic
      with function Give return Pointer;
   procedure Fill (Count : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Fill (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
      Place : Natural := 0;
   begin
      while Index < Count loop
         if Ring (Place) /= null then
            Free (Ring (Place));
         end if;
         Ring (Place) := Give;
         Place := (if Place = Ring'Last then 0 else Place + 1);
         Kit.Increment (Index);
      end loop;
      Sum := Kit.Checksum (Index);
   end Fill;

   procedure Fill_With_Nothing is new Fill (Allocate_Nothing);
   procedure Fill_With_Objects is new Fill (Allocate);

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum) renames Fill_With_Nothing;
   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum) renames Fill_With_Objects;

   procedure Release (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      for Place of Ring loop
         exit when Place = null;   --  frames fill from the beginning
         Free (Place);
      end loop;
   end Release;

end Allocation_Rings;
