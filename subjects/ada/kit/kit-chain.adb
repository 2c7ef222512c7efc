package body Kit.Chain is

   procedure Run (Count : Iterations; Sum : out Checksum) is
      X     : Checksum   := 1;
      Index : Iterations := 0;
   begin
      while Index < Count loop
         for Step in 1 .. Steps loop
            X := X * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407;
         end loop;
         Index := Index + 1;
      end loop;
      Sum := X;
   end Run;

   procedure Run_Reference is new Run (Steps => Reference_Steps);

   procedure Reference (Count : Iterations; Sum : out Checksum) renames Run_Reference;

end Kit.Chain;
