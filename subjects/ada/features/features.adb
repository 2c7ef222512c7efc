--  The Ada subject: registers the tests of all feature areas, in the order of suites/features.toml, and serves requests

with Features_Allocation;
with Features_Calls;
with Features_Exceptions;
with Kit.Protocol;

procedure Features
  with Priority => 49
is
   --  GNAT runs Ada priority p as SCHED_FIFO p + 1: 50 is the priority at which the laboratory starts FIFO subjects.
   --  Priorities have no effect under other policies
begin
   Features_Calls.Register;
   Features_Allocation.Register;
   Features_Exceptions.Register;
   Kit.Protocol.Serve;
end Features;
