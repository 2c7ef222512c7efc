with Ada.Streams;
with Pool;
with Requests;

package body Connections is

   use Ada.Streams;
   use GNAT.Sockets;

   Look          : constant Duration := 1.0;
   Silent_Looks  : constant := 60;
   --  A connection on which nothing comes is looked after each second: it is closed when others wait, and after a minute
   Head_Max    : constant := 8 * 1_024;

   procedure Send (Client : Socket_Type; Text : String);
   --  Writes all of it

   procedure Receive
     (Client : Socket_Type;
      Bytes  : out Stream_Element_Array;
      Last   : out Stream_Element_Offset);
   --  Last is Bytes'First - 1 at the end of the connection, also if it is silent for too long

   procedure Answer
     (Client : Socket_Type;
      Head   : String;
      Closes : out Boolean);
   --  Answers the request that has this head

   procedure Send (Client : Socket_Type; Text : String) is
      Bytes : Stream_Element_Array (1 .. Text'Length)
        with Import, Address => Text'Address;
      First : Stream_Element_Offset := Bytes'First;
      Last  : Stream_Element_Offset;
   begin
      while First <= Bytes'Last loop
         Send_Socket (Client, Bytes (First .. Bytes'Last), Last);
         First := Last + 1;
      end loop;
   end Send;

   procedure Receive
     (Client : Socket_Type;
      Bytes  : out Stream_Element_Array;
      Last   : out Stream_Element_Offset)
   is
   begin
      for Count in 1 .. Silent_Looks loop
         begin
            Receive_Socket (Client, Bytes, Last);
            return;
         exception
            when Event : Socket_Error =>
               if Resolve_Exception (Event) /= Resource_Temporarily_Unavailable then
                  raise;
               end if;
               exit when Pool.Connections_Wait;
         end;
      end loop;
      Last := Bytes'First - 1;
   end Receive;

   procedure Answer
     (Client : Socket_Type;
      Head   : String;
      Closes : out Boolean)
   is
      use Requests;
      Asked : Request := Read (Head);
   begin
      --  A body that comes with a request is not read, so what follows it is not understood
      if Asked.Has_Body or else Pool.Connections_Wait then
         Asked.Fate := Requests.Closes;
      end if;
      Closes := Asked.Fate = Requests.Closes;
      Send (Client, Text (Asked.Status, Asked.Fate));
   end Answer;

   procedure Serve (Client : Socket_Type) is
      Bytes  : Stream_Element_Array (1 .. Head_Max);
      Text   : String (1 .. Head_Max) with Import, Address => Bytes'Address;
      Filled : Natural := 0;
      Ending : Natural;
      Last   : Stream_Element_Offset;
      Closes : Boolean := False;
   begin
      Set_Socket_Option (Client, IP_Protocol_For_TCP_Level, (No_Delay, True));
      Set_Socket_Option (Client, Socket_Level, (Receive_Timeout, Look));
      Set_Socket_Option (Client, Socket_Level, (Send_Timeout, Silent_Looks * Look));
      while not Closes loop
         Ending := Requests.End_Of_Head (Text (1 .. Filled));
         if Ending > 0 then
            Answer (Client, Text (1 .. Ending), Closes);
            --  Clients may send the next request before they have the answer
            Text (1 .. Filled - Ending) := Text (Ending + 1 .. Filled);
            Filled := Filled - Ending;
         elsif Filled = Head_Max then
            Send (Client, Requests.Text (Requests.Head_Too_Long, Requests.Closes));
            Closes := True;
         else
            Receive (Client, Bytes (Stream_Element_Offset (Filled) + 1 .. Bytes'Last), Last);
            Closes := Last = Stream_Element_Offset (Filled);
            Filled := Natural (Last);
         end if;
      end loop;
      Close_Socket (Client);
   exception
      when Socket_Error =>
         --  The client broke off, or was silent for too long
         Close_Socket (Client);
   end Serve;

end Connections;
