with Ada.Text_IO;

package body Seats is

   task body Hall is
      Pairs : Natural := 0;
      Gone  : Natural := 0;
   begin
      loop
         select
            accept Enter (Where : in Side; Pair : out Positive) do
               Pair := 1;
               if Where = Left then
                  requeue Meet (Left);
               elsif Meet (Left)'Count = 0 then
                  requeue Meet (Right) with abort;
               end if;
               Pairs := Pairs + 1;
               Pair := Pairs;
               accept Meet (Left) (Where : in Side; Pair : out Positive) do
                  Pair := Pairs;
               end Meet;
            end Enter;
         or
            when Meet (Left)'Count > 0 =>
               accept Meet (Right) (Where : in Side; Pair : out Positive) do
                  Pairs := Pairs + 1;
                  Pair := Pairs;
               end Meet;
               accept Meet (Left) (Where : in Side; Pair : out Positive) do
                  Pair := Pairs;
               end Meet;
         or
            accept Leave (Where : in Side) do
               Gone := Gone + 1;
            end Leave;
            if Gone = 6 then
               --  Longer than the last client lives
               delay 0.1;
               Ada.Text_IO.Put_Line ("all gone");
            end if;
         or
            terminate;
         end select;
      end loop;
   end Hall;

end Seats;
