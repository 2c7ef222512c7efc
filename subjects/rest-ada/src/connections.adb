with Ada.Dispatching;
with Ada.Streams;
with Pool;
with Requests;

package body Connections is

   use Ada.Streams;
   use GNAT.Sockets;

   Look         : constant Duration := 1.0;
   Silent_Looks : constant          := 60;
   --  A connection on which nothing comes is looked after each second: it is closed when others wait, and after a minute

   Head_Max : constant := 8 * 1_024;

   Rest_Max : constant := 64;
   --  So often what is not understood is received before the connection is closed

   procedure Send (Client : Socket_Type; Text : String);
   --  Writes all of it

   procedure Receive
     (Client : Socket_Type;
      Bytes  : out Stream_Element_Array;
      Last   : out Stream_Element_Offset;
      Looks  : Positive := Silent_Looks);
   --  Last is Bytes'First - 1 at the end of the connection, also if it is silent for so many looks

   procedure Answer
     (Client : Socket_Type;
      Head   : String;
      Date   : Dates.Text;
      Asked  : in out Requests.Request);
   --  Answers the request that has this head; afterwards Asked says what becomes of the connection

   procedure Take_The_Rest (Client : Socket_Type; Bytes : out Stream_Element_Array);
   --  Ends our side, and drops what still comes for a while: the system would break the connection off if it were closed before, and the
   --  client might not see its answer (RFC 9112, 9.6)

   procedure Send (Client : Socket_Type; Text : String) is
      Bytes : Stream_Element_Array (1 .. Text'Length)
        with Import, Address => Text'Address;
      First : Stream_Element_Offset := Bytes'First;
      Last  : Stream_Element_Offset;
   begin
      while First <= Bytes'Last loop
         begin
            Send_Socket (Client, Bytes (First .. Bytes'Last), Last);
            First := Last + 1;
         exception
            when Event : Socket_Error =>
               if Resolve_Exception (Event) /= Interrupted_System_Call then
                  raise;
               end if;
         end;
      end loop;
   end Send;

   procedure Receive
     (Client : Socket_Type;
      Bytes  : out Stream_Element_Array;
      Last   : out Stream_Element_Offset;
      Looks  : Positive := Silent_Looks)
   is
   begin
      for Count in 1 .. Looks loop
         begin
            Receive_Socket (Client, Bytes, Last);
            return;
         exception
            when Event : Socket_Error =>
               case Resolve_Exception (Event) is
                  when Resource_Temporarily_Unavailable =>
                     exit when Pool.Connections_Wait;
                  when Interrupted_System_Call =>
                     --  The process was stopped for a while, and goes on
                     null;
                  when others =>
                     raise;
               end case;
         end;
      end loop;
      Last := Bytes'First - 1;
   end Receive;

   procedure Answer
     (Client : Socket_Type;
      Head   : String;
      Date   : Dates.Text;
      Asked  : in out Requests.Request)
   is
      use Requests;
   begin
      Asked := Read (Head);
      --  A body that comes with a request is not read, so what follows it is not understood
      if Asked.Has_Body or else Pool.Connections_Wait then
         Asked.Fate := Closes;
      end if;
      Send (Client, Text (Asked.Status, Asked.Fate, Date, Fields_Alone => Asked.Is_Head));
   end Answer;

   procedure Take_The_Rest (Client : Socket_Type; Bytes : out Stream_Element_Array) is
      Last : Stream_Element_Offset;
   begin
      Shutdown_Socket (Client, Shut_Write);
      for Count in 1 .. Rest_Max loop
         Receive (Client, Bytes, Last, Looks => 1);
         exit when Last < Bytes'First;
      end loop;
   end Take_The_Rest;

   procedure Prepare (Listener : Socket_Type) is
   begin
      Set_Socket_Option (Listener, IP_Protocol_For_TCP_Level, (No_Delay, True));
      Set_Socket_Option (Listener, Socket_Level, (Send_Timeout, Silent_Looks * Look));
   end Prepare;

   procedure Serve (Client : Socket_Type; Date : in out Dates.Stamp) is
      use type Requests.Fate;
      Bytes  : Stream_Element_Array (1 .. Head_Max);
      Text   : String (1 .. Head_Max) with Import, Address => Bytes'Address;
      Filled : Natural := 0;
      Ending : Natural;
      Last   : Stream_Element_Offset;
      Asked  : Requests.Request;
   begin
      --  Not taken over from the listener: it would end the wait for a connection as well
      Set_Socket_Option (Client, Socket_Level, (Receive_Timeout, Look));
      loop
         Ending := Requests.End_Of_Head (Text (1 .. Filled));
         if Ending > 0 then
            Answer (Client, Text (1 .. Ending), Dates.Now (Date), Asked);
            exit when Asked.Fate = Requests.Closes;
            --  Clients may send the next request before they have the answer
            Text (1 .. Filled - Ending) := Text (Ending + 1 .. Filled);
            Filled := Filled - Ending;
            --  Others' turn: a task that always finds its next request would go on until the system interrupts it, after some ms, and where
            --  hundreds do so on one processor, the last of them wait for a second
            Ada.Dispatching.Yield;
         elsif Filled = Head_Max then
            Send (Client, Requests.Text (Requests.Head_Too_Long, Requests.Closes, Dates.Now (Date)));
            exit;
         else
            Receive (Client, Bytes (Stream_Element_Offset (Filled) + 1 .. Bytes'Last), Last);
            if Last = Stream_Element_Offset (Filled) then
               return;
            end if;
            Filled := Natural (Last);
         end if;
      end loop;
      if Asked.Has_Body or else Ending < Filled then
         Take_The_Rest (Client, Bytes);
      end if;
   end Serve;

end Connections;
