with Fields;
with Kit;
with Switches;

package body Distributor_Hand is

   use type Kit.Checksum;

   protected Distributor is
      procedure Get (Its_Part : out Fields.Part);
   private
      Next : Fields.Part := Fields.Part'First;
   end Distributor;

   task type Client;

   Clients : array (Fields.Part) of Client;
   pragma Unreferenced (Clients);

   -----------------
   -- Distributor --
   -----------------

   protected body Distributor is

      procedure Get (Its_Part : out Fields.Part) is
      begin
         Switches.Note;
         Its_Part := Next;
         Next := (if Next = Fields.Part'Last then Fields.Part'First else Next + 1);
      end Get;

   end Distributor;

   ------------
   -- Client --
   ------------

   task body Client is
      Turn   : Gates.Parity := 0;
      Rounds : Kit.Iterations;
      Part   : Fields.Part;
      Sum    : Kit.Checksum;
   begin
      loop
         Gates.Enter (Entrance, Turn, Rounds);
         Sum := 0;
         for Round in 1 .. Rounds loop
            Switches.Note;
            Distributor.Get (Part);
            Switches.Note;
            Sum := Sum + Fields.Fill (Part);
         end loop;
         Entrance.Report (Sum);
      end loop;
   end Client;

end Distributor_Hand;
