--  Writes, into the current folder, the sources of tests that are many and alike

with Call_Sources;

procedure Generate is
begin
   Call_Sources.Write;
end Generate;
