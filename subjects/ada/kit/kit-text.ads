--  Lines of the protocol, read and written past Ada.Text_IO, which a test may use for output of its own

private package Kit.Text is

   --  Requests ------------------------------------------------------------------------------------------------------

   Request_Length_Max : constant := 4096;

   type Line_Status is (Complete, Overlong, Ended);

   procedure Get_Line (Line : out String; Last : out Natural; Status : out Line_Status)
     with Pre => Line'First = 1 and then Line'Last = Request_Length_Max;
   --  Line (1 .. Last) without its end. Overlong: the line was longer than Line and was skipped

   --  Answers -------------------------------------------------------------------------------------------------------

   Reader_Is_Gone : exception;

   procedure Put (Text : String);
   procedure End_Line;

   procedure Put_Line (Text : String);
   --  Lines are kept until Flush or until much has gathered

   procedure Flush;

   procedure End_Tests_Own_Lines;
   --  What a test left unfinished on Ada.Text_IO's standard output and error is ended and flushed

   --  Images --------------------------------------------------------------------------------------------------------

   function Image (Value : Nanoseconds) return String;
   function Image (Value : Iterations) return String;
   function Image (Value : Checksum) return String;
   --  Decimal, without the leading space of 'Image

   function Escaped (Value : String) return String;
   --  For a field's value: space, %, = and control characters as %XX

   function On_One_Line (Value : String) return String;
   --  For the text of an error, which may quote a request: control characters as spaces, and a question mark for each
   --  byte beyond ASCII, because a quotation that was cut short need not be UTF-8

end Kit.Text;
