--  Seats for pairs: a server of a library package, which ends with the program

package Seats is

   type Side is (Left, Right);

   task Hall is
      entry Enter (Where : in Side; Pair : out Positive);
      --  Returns when someone is on the other side too
      entry Leave (Where : in Side);
   private
      entry Meet (Side) (Where : in Side; Pair : out Positive);
   end Hall;

end Seats;
