--  The rendezvous programs as a subject that counts switches as the study did

with All_Programs;
with Kit.Protocol;
with Switches;

procedure Main
  with Priority => 49
is
   --  The priority of the Ada subject's main program, see there. All tasks inherit it
begin
   Kit.Own_Switches := Switches.Counted'Access;
   All_Programs.Register;
   Kit.Protocol.Serve;
end Main;
