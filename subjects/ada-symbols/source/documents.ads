--  Small documents: elements with attributes, as configuration files have them.

package Documents is

   Most : constant := 4_000;
   --  No document is longer.

   subtype Text is String (1 .. Most);

   procedure Write (Number : Positive; Into : out Text; Last : out Natural);
   --  The document of a number: `<name key="value"/>` some fifty times. The same number gives the same document.

end Documents;
