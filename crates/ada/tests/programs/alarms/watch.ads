--  Servers of a library package that give up waiting

package Watch is

   --  Says so when nobody has fed it for a while; each has a patience of its own
   task type Dog (Patience_Ms : Positive) is
      entry Start (Name : in Character);
      entry Feed;
      entry Ask (Howls : out Natural);
      entry Stop;
   end Dog;

   --  A family whose members wait for a second call inside the first
   subtype Side is Integer range 1 .. 2;

   task Bridge is
      entry Enter (Side) (Toll : in Natural; Change : out Integer);
      entry Pay (Coin : in Positive);
   end Bridge;

end Watch;
