--  One connection, from its first request to its end.

with GNAT.Sockets;

package Connections is

   procedure Serve (Client : GNAT.Sockets.Socket_Type);
   --  Answers requests until the client closes, is silent for long, or asks for what is not understood; then closes

end Connections;
