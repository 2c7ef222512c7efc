--  Tasks that accept connections and serve them, one at a time each. They are made when they are needed first, and stay.
--
--  When all are busy and a connection waits, a task that has answered closes its connection, and takes the one that waited longest: the
--  client opens another. So no connection waits for ever, however many there are.

with GNAT.Sockets;

package Pool is

   procedure Serve (Listener : GNAT.Sockets.Socket_Type);
   --  Has tasks accept and serve what comes. They go on when it has returned.

   function Connections_Wait return Boolean;
   --  Whether connections wait until a task is done with another one. The system is asked only where no task is free.

end Pool;
