--  Tasks that serve connections, one at a time each. They are made when they are needed first, and stay.
--
--  When all are busy and a connection waits, a task that has answered closes its connection, and takes the one that waited longest: the
--  client opens another. So no connection waits for ever, however many there are.

with GNAT.Sockets;

package Pool is

   procedure Serve (Client : GNAT.Sockets.Socket_Type);
   --  Hands a connection to the pool. Waits while too many wait already.

   function Connections_Wait return Boolean;
   --  Whether connections wait until a task is done with another one. Without a lock, since it is asked after each answer.

end Pool;
