--  The Ada subject: registers the tests of all feature areas, in the order of suites/features.toml, and serves requests

with Kit.Protocol;

procedure Features
  with Priority => 49
is
   --  GNAT runs Ada priority p as SCHED_FIFO p + 1: 50 is the priority at which the laboratory starts FIFO subjects.
   --  Priorities have no effect under other policies
begin
   Kit.Protocol.Serve;
end Features;
