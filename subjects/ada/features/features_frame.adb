procedure Features_Frame (Count : Kit.Iterations; Sum : out Kit.Checksum) is
   use type Kit.Iterations;

   Index : Kit.Iterations := 0;
begin
   Clear;
   while Index < Count loop
      Operate;
      Kit.Increment (Index);
   end loop;
   Sum := Total;
end Features_Frame;
