--  Databases from Ada

with Kit.Protocol;
with Sql_Clients;
with Sql_Reading;
with Sql_Writing;

procedure Measured is
begin
   Sql_Reading.Register;
   Sql_Writing.Register;
   Sql_Clients.Register;
   Kit.Protocol.Serve;
end Measured;
