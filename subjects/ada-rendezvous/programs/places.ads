--  Places at the philosophers' table. The fork to a place's left has its number; the one to its right that of the next

with Gates;

package Places is

   subtype Place is Gates.Client_Number;

   type Forks is array (Place) of Boolean;

   function Right_Of (Who, Seats : Place) return Place
   is (if Who = Seats then 1 else Who + 1);

   function Left_Of (Who, Seats : Place) return Place
   is (if Who = 1 then Seats else Who - 1);

   function Both_Free (Taken : Forks; Who, Seats : Place) return Boolean
   is (not Taken (Who) and not Taken (Right_Of (Who, Seats)));

end Places;
