--  The rendezvous programs as a subject

with All_Programs;
with Kit.Protocol;

procedure Main
  with Priority => 49
is
   --  The priority of the Ada subject's main program, see there. All tasks inherit it
begin
   All_Programs.Register;
   Kit.Protocol.Serve;
end Main;
