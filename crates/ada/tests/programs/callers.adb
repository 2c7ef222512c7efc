--  Calling servers past one loop with data: single clients in order, data that comes back, data both ways, counters

with Ada.Text_IO; use Ada.Text_IO;

procedure Callers is

   --  Three clients by name, in order; one is called twice, one in a loop
   procedure In_Order is

      task Reader is
         entry Open (Name : in Character; Is_Open : out Boolean);
         entry Close;
      end Reader;

      task Sorter is
         entry Take (Item : in Integer);
         entry Give (Sum : out Integer);
      end Sorter;

      task Writer is
         entry Write (Item : in Integer);
      end Writer;

      task Conductor;

      task body Conductor is
         Is_Open : Boolean;
         Count   : Natural := 0;
         Sum     : Integer;
      begin
         Reader.Open ('a', Is_Open);
         if Is_Open then
            while Count < 3 loop
               Count := Count + 1;
               Sorter.Take (Item => Count * Count);
            end loop;
         end if;
         Reader.Close;
         Sorter.Give (Sum);
         for I in reverse 1 .. 2 loop
            Writer.Write (Sum * I);
         end loop;
      end Conductor;

      task body Reader is
         Opened : Character;
      begin
         accept Open (Name : in Character; Is_Open : out Boolean) do
            Opened := Name;
            Is_Open := Name < 'm';
         end Open;
         accept Close;
         delay 0.1;
         Put_Line ("read " & Opened);
      end Reader;

      task body Sorter is
         Total : Integer := 0;
      begin
         for I in 1 .. 3 loop
            accept Take (Item : in Integer) do
               Total := Total * 10 + Item;
            end Take;
         end loop;
         accept Give (Sum : out Integer) do
            Sum := Total + 1;
         end Give;
         delay 0.2;
         Put_Line ("sorted" & Integer'Image (Total));
      end Sorter;

      task body Writer is
      begin
         accept Write (Item : in Integer) do
            Put_Line ("writing" & Integer'Image (Item));
         end Write;
         delay 0.3;
         accept Write (Item : in Integer) do
            Put_Line ("and" & Integer'Image (Item));
         end Write;
      end Writer;

   begin
      null;
   end In_Order;

   --  Two arrays of one type, and results that come back
   procedure In_Parallel is

      task type Adder is
         entry Work (First, Last : in Positive; Sum : out Natural);
      end Adder;

      task type Ticker is
         entry Tick (Number : in Positive);
      end Ticker;

      Left  : array (1 .. 2) of Adder;
      Right : array (1 .. 3) of Adder;
      Clock : array (1 .. 4) of Ticker;

      task Collector;

      task body Collector is
         Total, Sum : Natural := 0;
         Next       : Positive := 1;
      begin
         for I in Left'Range loop
            Left (I).Work (I * 10, I * 10 + 9, Sum);
            Total := Total + Sum;
         end loop;
         for I in Right'Range loop
            Right (I).Work (100, 100 + I, Sum);
            Total := Total + Sum;
         end loop;
         while Next <= 4 loop
            Clock (Next).Tick (Next);
            Next := Next + 1;
         end loop;
         Put_Line ("total" & Natural'Image (Total));
      end Collector;

      task body Adder is
         From, To : Positive;
      begin
         accept Work (First, Last : in Positive; Sum : out Natural) do
            From := First;
            To := Last;
            Sum := 0;
            for I in From .. To loop
               Sum := Sum + I;
            end loop;
         end Work;
         delay 0.001;
      end Adder;

      task body Ticker is
         Mine : Positive;
      begin
         accept Tick (Number : in Positive) do
            Mine := Number;
         end Tick;
         Put_Line ("tick" & Positive'Image (Mine));
      end Ticker;

   begin
      null;
   end In_Parallel;

   --  Clients that somebody tells apart stay clients
   procedure By_Name is

      task type Runner is
         entry Go (Lane : in Positive);
         entry Place (Lane : out Positive);
      end Runner;

      Runners : array (1 .. 2) of Runner;

      task Starter;

      task body Starter is
      begin
         for I in Runners'Range loop
            Runners (I).Go (I);
         end loop;
      end Starter;

      task body Runner is
         Mine : Positive;
      begin
         accept Go (Lane : in Positive) do
            Mine := Lane;
         end Go;
         accept Place (Lane : out Positive) do
            Lane := Mine;
         end Place;
         delay 0.001;
      end Runner;

      Lane : Positive;
   begin
      Runners (2).Place (Lane);
      Put_Line ("second" & Positive'Image (Lane));
      Runners (1).Place (Lane);
      Put_Line ("first" & Positive'Image (Lane));
   end By_Name;

   --  Parts are given to all clients of an array, and the results collected in another order: each client is told its place
   procedure Scatter_And_Gather is

      task type Part is
         entry Start (First : in Positive);
         entry Result (Sum : out Natural);
         entry Finish;
      end Part;

      Parts : array (1 .. 4) of Part;

      task Leader;

      task body Leader is
         Value : Natural;
         Total : Natural := 0;
         Last  : Positive := 4;
      begin
         for I in Parts'Range loop
            Parts (I).Start (I * I);
         end loop;
         for I in reverse Parts'Range loop
            Parts (I).Result (Value);
            Total := Total * 3 + Value;
         end loop;
         Put_Line ("gathered" & Natural'Image (Total));
         while Last > 1 loop
            Last := Last - 1;
            Parts (Last + 1).Finish;
         end loop;
         Parts (Last).Finish;
      end Leader;

      task body Part is
         From : Positive;
      begin
         accept Start (First : in Positive) do
            From := First;
         end Start;
         delay 0.001;
         accept Result (Sum : out Natural) do
            Sum := From + 1;
         end Result;
         accept Finish do
            Put_Line ("finished" & Positive'Image (From));
         end Finish;
      end Part;

   begin
      null;
   end Scatter_And_Gather;

   --  Names of the server, its object and its clients that would meet
   procedure Same_Names is

      task First is
         entry Take (Stage, I, All_Given : in Integer);
      end First;

      task Second is
         entry Count (Sum : in Integer);
      end Second;

      task Server;

      task body Server is
         Count : Integer := 3;
         Take  : Integer := 4;
      begin
         for I in 1 .. 2 loop
            First.Take (Stage => Count, I => I, All_Given => Take);
            Count := Count + I;
         end loop;
         Second.Count (Count * Take);
         Take := 0;
      end Server;

      task body First is
         Seen : Integer := 0;
      begin
         for Turn in 1 .. 2 loop
            accept Take (Stage, I, All_Given : in Integer) do
               Seen := Seen + Stage * 100 + I * 10 + All_Given;
            end Take;
         end loop;
         delay 0.001;
         Put_Line ("seen" & Integer'Image (Seen));
      end First;

      task body Second is
         Given : Integer;
      begin
         accept Count (Sum : in Integer) do
            Given := Sum;
         end Count;
         delay 0.1;
         Put_Line ("given" & Integer'Image (Given));
      end Second;

   begin
      null;
   end Same_Names;

   --  What is converted on the way back, and an entry that is counted, are not followed
   procedure Not_Followed is

      task Meter is
         entry Read (Value : out Natural);
      end Meter;

      task Bell is
         entry Ring;
      end Bell;

      task Poller;

      task body Poller is
         Value : Long_Integer;
      begin
         Meter.Read (Natural (Value));
         Put_Line ("read" & Long_Integer'Image (Value));
      end Poller;

      task Ringer;

      task body Ringer is
      begin
         Bell.Ring;
      end Ringer;

      task body Meter is
      begin
         accept Read (Value : out Natural) do
            Value := 17;
         end Read;
         delay 0.001;
      end Meter;

      task body Bell is
      begin
         while Ring'Count = 0 loop
            delay 0.001;
         end loop;
         accept Ring;
         Put_Line ("rung");
      end Bell;

   begin
      null;
   end Not_Followed;

begin
   In_Order;
   In_Parallel;
   By_Name;
   Scatter_And_Gather;
   Same_Names;
   Not_Followed;
end Callers;
