--  One connection, from its first request to its end.

with Dates;
with GNAT.Sockets;

package Connections is

   procedure Prepare (Listener : GNAT.Sockets.Socket_Type);
   --  Gives it options that connections take over from it

   procedure Serve (Client : GNAT.Sockets.Socket_Type; Date : in out Dates.Stamp);
   --  Answers requests until the client closes, is silent for long, or asks for what is not understood. Whoever calls it closes the socket,
   --  also where it raises an exception: Socket_Error, if the client broke off.

end Connections;
