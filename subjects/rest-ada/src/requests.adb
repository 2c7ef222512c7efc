with Ada.Characters.Handling;

package body Requests is

   CRLF : constant String := ASCII.CR & ASCII.LF;

   Greeting : constant String := "{""greeting"":""Hello World!""}";

   function Is_Field (Line, Name : String) return Boolean;
   --  Whether a line of a head is the field of this name, which is given in lower case with its colon

   function Holds (Line, Word : String) return Boolean;
   --  Whether a line holds a word, in whatever case

   function Whole (Reason, Content : String) return String is
     ("HTTP/1.1 " & Reason & CRLF
      & "Content-Type: application/json" & CRLF
      & "Content-Length:" & Integer'Image (Content'Length) & CRLF);
   --  The fields that do not change from answer to answer

   Fine_Fields : constant String := Whole ("200 OK", Greeting);

   function End_Of_Head (Text : String) return Natural is

      function Ends (Index : Integer) return Boolean is
        (Index >= Text'First and then Text (Index) = ASCII.LF);
      --  Whether a line ends there

   begin
      for Index in Text'First + 1 .. Text'Last loop
         if Ends (Index)
           and then (Ends (Index - 1) or else (Text (Index - 1) = ASCII.CR and then Ends (Index - 2)))
         then
            return Index;
         end if;
      end loop;
      return 0;
   end End_Of_Head;

   function Is_Field (Line, Name : String) return Boolean is
     (Line'Length >= Name'Length
      and then Ada.Characters.Handling.To_Lower
        (Line (Line'First .. Line'First + Name'Length - 1)) = Name);

   function Holds (Line, Word : String) return Boolean is
      Lower : constant String := Ada.Characters.Handling.To_Lower (Line);
   begin
      return (for some Index in Lower'First .. Lower'Last - Word'Length + 1 =>
                Lower (Index .. Index + Word'Length - 1) = Word);
   end Holds;

   function Read (Head : String) return Request is

      First  : Natural := Head'First;
      Last   : Natural;
      Asked  : Request;
      Hosts  : Natural := 0;
      Is_1_1 : Boolean := False;

      Malformed : exception;

      function Has (Index : Natural; Text : String) return Boolean is
        (Index + Text'Length - 1 <= Last
         and then Head (Index .. Index + Text'Length - 1) = Text);

      procedure Find_Line_End;
      --  Last is where the line ends that begins at First. What ends in another way than by CR and LF, or has a zero within, is Malformed

      procedure Read_Request_Line;

      procedure Find_Line_End is
      begin
         Last := First - 1;
         while Head (Last + 1) not in ASCII.NUL | ASCII.LF | ASCII.CR loop
            Last := Last + 1;
         end loop;
         --  The head ends by LF, so a character follows each CR
         if Head (Last + 1) /= ASCII.CR or else Head (Last + 2) /= ASCII.LF then
            raise Malformed;
         end if;
      end Find_Line_End;

      procedure Read_Request_Line is
         Is_Get : constant Boolean := Has (First, "GET ");
         Target : Natural          := First + 4;
      begin
         Is_1_1 := Has (Last - 8, " HTTP/1.1");
         if Is_1_1 then
            Asked.Fate := Stays;
         elsif not Has (Last - 8, " HTTP/1.0") then
            return;
         end if;
         if not Is_Get then
            Asked.Is_Head := Has (First, "HEAD ");
            Target        := Target + 1;
         end if;
         if not (Is_Get or else Asked.Is_Head) then
            Asked.Status := Not_Permitted;
         elsif Has (Target, "/api ") or else Has (Target, "/api?") then
            Asked.Status := Fine;
         else
            Asked.Status := Not_Found;
         end if;
      end Read_Request_Line;

   begin
      Find_Line_End;
      if Last < First and then Last + 2 < Head'Last then
         --  An empty line before a request does no harm (RFC 9112, 2.2)
         First := First + 2;
         Find_Line_End;
      end if;
      if Last - First < 13 then
         return Asked;
      end if;
      Read_Request_Line;
      loop
         First := Last + 3;
         exit when First > Head'Last;
         Find_Line_End;
         --  Most fields are none of these: their first letter tells
         case Head (First) is
            when 'C' | 'c' =>
               if Is_Field (Head (First .. Last), "connection:") then
                  if Holds (Head (First .. Last), "close") then
                     Asked.Fate := Closes;
                  elsif Asked.Fate = Closes and then Holds (Head (First .. Last), "keep-alive") then
                     Asked.Fate := Stays_And_Says_So;
                  end if;
               elsif Is_Field (Head (First .. Last), "content-length:") then
                  Asked.Has_Body := True;
               end if;
            when 'H' | 'h' =>
               if Is_Field (Head (First .. Last), "host:") then
                  Hosts := Hosts + 1;
               end if;
            when 'T' | 't' =>
               if Is_Field (Head (First .. Last), "transfer-encoding:") then
                  Asked.Has_Body := True;
               end if;
            when others =>
               null;
         end case;
      end loop;
      if Hosts > 1 or else (Hosts = 0 and then Is_1_1) then
         --  Whom it is for is not known (RFC 9112, 3.2)
         Asked.Status := Not_Understood;
         Asked.Fate   := Closes;
      end if;
      return Asked;
   exception
      when Malformed =>
         return (others => <>);
   end Read;

   function Text (Of_Status : Status; Then_It : Fate; Date : Dates.Text; Fields_Alone : Boolean := False) return String is
      Ending : constant String :=
        "Date: " & Date & CRLF
        & (case Then_It is
            when Stays             => CRLF,
            when Stays_And_Says_So => "Connection: keep-alive" & CRLF & CRLF,
            when Closes            => "Connection: close" & CRLF & CRLF);
   begin
      return
        (case Of_Status is
            when Fine           => Fine_Fields & Ending & (if Fields_Alone then "" else Greeting),
            when Not_Understood => Whole ("400 Bad Request", "") & Ending,
            when Not_Found      => Whole ("404 Not Found", "") & Ending,
            when Not_Permitted  => Whole ("405 Method Not Allowed", "") & "Allow: GET, HEAD" & CRLF & Ending,
            when Head_Too_Long  => Whole ("431 Request Header Fields Too Large", "") & Ending);
   end Text;

end Requests;
