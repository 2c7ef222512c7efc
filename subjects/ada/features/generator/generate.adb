--  Writes, into the current folder, the sources of tests that are many and alike

with Allocation_Sources;
with Call_Sources;
with Rendezvous_Sources;

procedure Generate is
begin
   Call_Sources.Write;
   Allocation_Sources.Write;
   Rendezvous_Sources.Write;
end Generate;
