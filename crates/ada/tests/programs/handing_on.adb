--  Accepts inside accepts of calls that are known to wait: who hands on need not wait for it

with Ada.Text_IO; use Ada.Text_IO;

procedure Handing_On is

   task Counter is
      entry Ask (Amount : in Positive);
      entry Await;
      entry Give (Amount : in Positive);
      entry Give_Loudly (Amount : in Positive; Left : out Natural);
   end Counter;

   task body Counter is
      Stock  : Natural := 0;
      Wanted : Natural := 0;
   begin
      loop
         select
            accept Ask (Amount : in Positive) do
               if Amount > Stock then
                  Wanted := Amount;
                  requeue Await;
               end if;
               Stock := Stock - Amount;
            end Ask;
         or
            accept Give (Amount : in Positive) do
               Stock := Stock + Amount;
               if Await'Count > 0 and then Stock >= Wanted then
                  accept Await;
                  Stock  := Stock - Wanted;
                  Wanted := Amount;
               end if;
               if Stock > 100 then
                  Stock := 100 + Amount;
               end if;
            end Give;
            Wanted := 0;
         or
            --  Its caller is given what is left, so it waits
            accept Give_Loudly (Amount : in Positive; Left : out Natural) do
               Stock := Stock + Amount;
               if Await'Count > 0 then
                  accept Await;
                  Stock := Stock - Wanted;
               end if;
               Left := Stock;
            end Give_Loudly;
         or
            terminate;
         end select;
      end loop;
   end Counter;

   procedure Serve (Amount, First, Second : in Positive) is

      task Client;

      task body Client is
      begin
         Counter.Ask (Amount);
      end Client;

      Left : Natural;
   begin
      delay 0.05;
      if First < Amount then
         Counter.Give (First);
      end if;
      Counter.Give (Second);
      while not Client'Terminated loop
         delay 0.01;
      end loop;
      Counter.Give_Loudly (1, Left);
      Put_Line (Natural'Image (Left));
   end Serve;

begin
   Serve (Amount => 5, First => 2, Second => 4);
   Serve (Amount => 7, First => 7, Second => 9);
   for I in 1 .. 3 loop
      Serve (Amount => 40, First => 1, Second => 60);
   end loop;
end Handing_On;
