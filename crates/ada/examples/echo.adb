--  100 000 rendezvous with a parameter each way and nothing else, for the example `switches`

procedure Echo is

   task Server is
      entry Double (X : in Integer; Y : out Integer);
   end Server;

   task body Server is
   begin
      for I in 1 .. 100_000 loop
         accept Double (X : in Integer; Y : out Integer) do
            Y := 2 * (X mod 1_000);
         end Double;
      end loop;
   end Server;

   Y : Integer := 1;
begin
   for I in 1 .. 100_000 loop
      Server.Double (Y + 1, Y);
   end loop;
end Echo;
