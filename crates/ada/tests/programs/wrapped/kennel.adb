--  Lines that continue others do not say how far a step of indentation goes.
package body Kennel is

   function Barks
     (Times : Positive) return Positive is (Times);
   function Growls
     (Times : Positive) return Positive is (Times + 1);

   task body Dog is
      Left : Natural := 0;
   begin
      loop
         select
            accept Start
              (Timeout : Duration;
               Command : String)
            do
               Left := Natural (Timeout) + Command'Length;
            end Start;
         or
            accept Ask (Length : out Natural) do
               Length := Left;
            end Ask;
         or
            terminate;
         end select;
      end loop;
   end Dog;

end Kennel;
