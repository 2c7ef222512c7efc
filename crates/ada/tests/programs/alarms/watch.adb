package body Watch is

   task body Dog is
      Count    : Natural := 0;
      Letter   : Character;
      Patience : Duration;
   begin
      accept Start (Name : in Character) do
         Letter := Name;
      end Start;
      Patience := Duration (Patience_Ms) / 1000;
      loop
         select
            accept Feed;
         or
            accept Ask (Howls : out Natural) do
               Howls := Count * 100 + Character'Pos (Letter);
            end Ask;
         or
            accept Stop;
            exit;
         or
            delay Patience;
            Count := Count + 1;
         end select;
      end loop;
   end Dog;

   task body Bridge is
      Paid : Natural := 0;
   begin
      loop
         select
            accept Enter (1) (Toll : in Natural; Change : out Integer) do
               Paid := 0;
               while Paid < Toll loop
                  select
                     accept Pay (Coin : in Positive) do
                        if Coin > Toll then
                           Paid := Toll;
                        else
                           Paid := Paid + Coin;
                        end if;
                     end Pay;
                  or
                     delay 0.3;
                     exit;
                  end select;
               end loop;
               Change := Paid - Toll;
            end Enter;
         or
            accept Enter (2) (Toll : in Natural; Change : out Integer) do
               Change := Toll;
            end Enter;
         or
            terminate;
         end select;
      end loop;
   end Bridge;

end Watch;
