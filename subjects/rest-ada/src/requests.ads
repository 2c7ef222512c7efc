--  Requests of HTTP/1.0 and 1.1 (RFC 9112), as far as this server must understand them, and the answers to them.

with Dates;

package Requests is

   type Status is (Fine, Not_Understood, Not_Found, Not_Permitted, Head_Too_Long);

   type Fate is (Stays, Stays_And_Says_So, Closes);
   --  What becomes of the connection after the answer. HTTP/1.0 keeps it only if both say so

   type Request is record
      Status   : Requests.Status := Not_Understood;
      Fate     : Requests.Fate   := Closes;
      Has_Body : Boolean         := False;
      Is_Head  : Boolean         := False;
      --  The answer's fields are wanted, and not its content (RFC 9110, 9.3.2)
   end record;

   function End_Of_Head (Text : String) return Natural;
   --  Where the empty line ends that ends a head; 0 if there is none yet. Lines that end by LF alone count, so that their client has its answer

   function Read (Head : String) return Request;
   --  What a head asks for. It may hold anything, but ends by LF

   function Text (Of_Status : Status; Then_It : Fate; Date : Dates.Text; Fields_Alone : Boolean := False) return String;
   --  The whole answer; or its fields, which tell of the content as if it were there

end Requests;
