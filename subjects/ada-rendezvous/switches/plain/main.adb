--  The rendezvous programs as a subject

with All_Programs;
with Kit.Protocol;

procedure Main
  with Priority => 49
is
   --  The priority of the Ada subject's main program, see there; the clients' is System.Default_Priority, which is less
begin
   All_Programs.Register;
   Kit.Protocol.Serve;
end Main;
