--  Requests taken apart: a verb, positional words, then key=value fields in any order

with Ada.Containers.Indefinite_Ordered_Maps;
with Ada.Containers.Indefinite_Vectors;

private package Kit.Requests is

   --  What can be wrong with a request; each has its code in the protocol, the message is the text that follows it
   Wrong_Version   : exception;
   Unknown_Request : exception;
   Unknown_Test    : exception;
   Unknown_Clock   : exception;
   Bad_Argument    : exception;
   Unsupported     : exception;

   package Word_Vectors is new Ada.Containers.Indefinite_Vectors (Positive, String);
   package Field_Maps is new Ada.Containers.Indefinite_Ordered_Maps (String, String);

   type Request is record
      Words  : Word_Vectors.Vector;   --  the verb and the positional words
      Fields : Field_Maps.Map;
   end record;

   function Parsed (Line : String) return Request;

   function Verb (From : Request) return String;

   procedure Check_Word_Count (From : Request; Expected : Natural; Form : String);
   --  Expected positional words after the verb, or Bad_Argument with the form that is right

   function Word (From : Request; Position : Positive) return String;
   --  Positional words count from 1 after the verb

   function Number (Text, Meaning : String; Least, Most : Checksum) return Checksum;
   --  A decimal number between Least and Most, or Bad_Argument

   function Has (From : Request; Key : String) return Boolean;

   function Field (From : Request; Key : String; Least, Most : Checksum) return Checksum;
   --  A field that must be there

end Kit.Requests;
