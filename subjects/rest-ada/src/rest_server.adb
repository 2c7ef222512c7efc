--  A REST server: GET /api is answered with a greeting, over GNAT.Sockets alone.
--
--  Usage: rest_server PORT
--
--  The environment task listens for connections of this machine, which a pool of tasks accepts.

with Ada.Command_Line;
with Ada.Exceptions;
with Ada.Text_IO;
with Connections;
with GNAT.Sockets;
with Pool;

procedure Rest_Server is

   use Ada.Command_Line;
   use GNAT.Sockets;

   Backlog : constant := 1_024;

   Server  : Socket_Type;
   Address : Sock_Addr_Type;

begin
   if Argument_Count /= 1 then
      Ada.Text_IO.Put_Line (Ada.Text_IO.Standard_Error, "usage: rest_server PORT");
      Set_Exit_Status (2);
      return;
   end if;
   Create_Socket (Server);
   Set_Socket_Option (Server, Socket_Level, (Reuse_Address, True));
   Address.Addr := Loopback_Inet_Addr;
   Address.Port := Port_Type'Value (Argument (1));
   Bind_Socket (Server, Address);
   Connections.Prepare (Server);
   Listen_Socket (Server, Backlog);
   Pool.Serve (Server);
exception
   when Wrong : others =>
      Ada.Text_IO.Put_Line
        (Ada.Text_IO.Standard_Error, "rest_server: " & Ada.Exceptions.Exception_Message (Wrong));
      Set_Exit_Status (1);
end Rest_Server;
