--  The barrier by the scheme for accepting servers

with Gates;

package Barrier_Servers is

   protected Barrier is
      entry Expect (Number : in Gates.Client_Number);
      entry Arrive;
      entry Pass;
   private
      Parties : Gates.Client_Number := 1;
      Waiting : Natural := 0;
      Open    : Boolean := False;
   end Barrier;

end Barrier_Servers;
