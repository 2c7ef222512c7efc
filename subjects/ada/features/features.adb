--  The Ada subject: registers the tests of all feature areas, in the order of suites/features.toml, and serves requests

with Features_Absent;
with Features_Allocation;
with Features_Calls;
with Features_Clocks;
with Features_Delays;
with Features_Exceptions;
with Features_Handoff;
with Features_Interrupts;
with Features_Protected;
with Features_Rendezvous;
with Features_Storage;
with Features_Tasks;
with Features_Time;
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
   Features_Tasks.Register;
   Features_Rendezvous.Register;
   Features_Handoff.Register;
   Features_Protected.Register;
   Features_Clocks.Register;
   Features_Time.Register;
   Features_Delays.Register;
   Features_Storage.Register;
   Features_Interrupts.Register;
   Features_Absent.Register;
   Kit.Protocol.Serve;
end Features;
