with Switches;

package body Barrier_Rendezvous is

   task body Barrier is
      Parties : Gates.Client_Number := 1;
      Waiting : Natural := 0;
      Open    : Boolean := False;
   begin
      loop
         select
            when not Open =>
               accept Arrive;
               Switches.Note;
               Waiting := Waiting + 1;
               Open := Waiting = Parties;
         or
            when Open =>
               accept Pass;
               Switches.Note;
               Waiting := Waiting - 1;
               Open := Waiting > 0;
         or
            accept Expect (Number : in Gates.Client_Number) do
               Parties := Number;
            end Expect;
         end select;
      end loop;
   end Barrier;

end Barrier_Rendezvous;
