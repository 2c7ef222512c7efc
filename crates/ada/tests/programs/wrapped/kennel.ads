package Kennel is

   function Barks
     (Times : Positive) return Positive;
   function Growls
     (Times : Positive) return Positive;

   task type Dog is
      entry Start
        (Timeout : Duration;
         Command : String);
      entry Ask (Length : out Natural);
   end Dog;

end Kennel;
