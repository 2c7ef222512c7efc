with Ada.Text_IO; use Ada.Text_IO;

--  A calling server hands each worker its part

procedure Calling is

   Workers : constant := 16;

   Sum : Natural := 0;

   protected Total is
      procedure Add (N : in Natural);
   end Total;

   protected body Total is
      procedure Add (N : in Natural) is
      begin
         Sum := Sum + N;
      end Add;
   end Total;

   procedure Work is

      task type Worker is
         entry Init (First, Last : in Positive);
      end Worker;

      Team : array (1 .. Workers) of Worker;

      task Distributor;

      task body Distributor is
         Width : constant := 10;
      begin
         for I in Team'Range loop
            Team (I).Init (First => (I - 1) * Width + 1, Last => I * Width);
         end loop;
      end Distributor;

      task body Worker is
         From, To : Positive;
         Mine     : Natural := 0;
      begin
         accept Init (First, Last : in Positive) do
            From := First;
            To := Last;
         end Init;
         for I in From .. To loop
            Mine := Mine + I;
         end loop;
         Total.Add (Mine);
      end Worker;

   begin
      null;
   end Work;

begin
   Work;
   Put_Line (Natural'Image (Sum));
end Calling;
